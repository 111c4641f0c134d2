"""Writes the model of docs/server.md, a logistic regression of three features: churn.py FILE"""
import sys

import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper, save

weights = numpy_helper.from_array(np.array([[0.5], [-1.0], [2.0]], np.float32), "weights")
nodes = [helper.make_node("MatMul", ["features", "weights"], ["sum"]), helper.make_node("Sigmoid", ["sum"], ["probability"])]
inputs, outputs = (helper.make_tensor_value_info(name, T.FLOAT, ["batch", width]) for name, width in (("features", 3), ("probability", 1)))
model = helper.make_model(helper.make_graph(nodes, "churn", [inputs], [outputs], [weights]), opset_imports=[helper.make_opsetid("", 20)])
model.ir_version = 10
save(model, sys.argv[1])
