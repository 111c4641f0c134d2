#!/usr/bin/env python3
"""Small transformers of Hugging Face with random weights, as Optimum writes them.

    from_hugging_face.py [NAME...]
"""
import logging
import os
import sys
import tempfile
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402
import transformers as t  # noqa: E402
from optimum.exporters.onnx import onnx_export_from_model  # noqa: E402
from round_trip import Case, exported, main  # noqa: E402

logging.disable(logging.WARNING)
SMALL = dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=64)
r = np.random.default_rng(0)


def exports(network, task, file="model.onnx"):
    """The network as it runs, and its model."""
    with tempfile.TemporaryDirectory() as folder:
        onnx_export_from_model(network, Path(folder), task=task, do_validation=False)
        return onnx.load(Path(folder, file))


def case(kind, config, task, feeds, file="model.onnx"):
    torch.manual_seed(0)
    network = kind(config).eval()
    model = exports(network, task, file)
    with torch.no_grad():
        outputs = network(**{name: torch.from_numpy(x) for name, x in feeds.items()})
    inputs = {i.name for i in model.graph.input}
    return Case(model, {name: x for name, x in feeds.items() if name in inputs}, [outputs[o.name].numpy() for o in model.graph.output])


def tokens(batch=3, length=11):
    """Another batch and length than those it is exported with; the last row is padded."""
    ids, mask = r.integers(5, 99, (batch, length)), np.ones((batch, length), np.int64)
    mask[-1, 7:] = 0
    return {"input_ids": ids, "attention_mask": mask}


@exported
def bert():
    return case(t.BertModel, t.BertConfig(**SMALL), "feature-extraction", {**tokens(), "token_type_ids": np.zeros((3, 11), np.int64)})


@exported
def distilbert_classes():
    config = t.DistilBertConfig(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=64, num_labels=3)
    return case(t.DistilBertForSequenceClassification, config, "text-classification", tokens())


@exported
def roberta_answers():
    return case(t.RobertaForQuestionAnswering, t.RobertaConfig(**SMALL), "question-answering", tokens())


@exported
def vision_transformer():
    config = t.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8, num_labels=5)
    return case(t.ViTForImageClassification, config, "image-classification", {"pixel_values": r.standard_normal((2, 3, 32, 32)).astype(np.float32)})


@exported
def resnet():
    config = t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=5)
    return case(t.ResNetForImageClassification, config, "image-classification", {"pixel_values": r.standard_normal((2, 3, 32, 32)).astype(np.float32)})


def t5():
    torch.manual_seed(0)
    return t.T5ForConditionalGeneration(t.T5Config(vocab_size=99, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, use_cache=False)).eval()


@exported
def t5_encoder():
    network, feeds = t5(), tokens()
    with torch.no_grad():
        output = network.get_encoder()(**{name: torch.from_numpy(x) for name, x in feeds.items()})
    return Case(exports(network, "text2text-generation", "encoder_model.onnx"), feeds, [output.last_hidden_state.numpy()])


@exported
def t5_decoder():
    """What comes of the encoder goes in as an input."""
    network, mask = t5(), tokens()["attention_mask"]
    states, ids = r.standard_normal((3, 11, 32)).astype(np.float32), r.integers(5, 99, (3, 4))
    with torch.no_grad():
        output = network(encoder_outputs=(torch.from_numpy(states),), attention_mask=torch.from_numpy(mask), decoder_input_ids=torch.from_numpy(ids), use_cache=False)
    model = exports(network, "text2text-generation", "decoder_model.onnx")
    return Case(model, {"encoder_attention_mask": mask, "input_ids": ids, "encoder_hidden_states": states}, [output.logits.numpy()])


@exported
def llama():
    """A decoder without a cache."""
    return case(t.LlamaForCausalLM, t.LlamaConfig(**SMALL, num_key_value_heads=2), "text-generation", {**tokens(3, 11), "position_ids": np.tile(np.arange(11), (3, 1))})


@exported
def gpt2_with_past():
    """A decoder whose cache goes in and comes out: the second part of a text after the first gives what the whole text gives."""
    torch.manual_seed(0)
    network = t.GPT2LMHeadModel(t.GPT2Config(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64)).eval()
    model = exports(network, "text-generation-with-past")
    ids = r.integers(5, 99, (2, 9))
    with torch.no_grad():
        first = network(torch.from_numpy(ids[:, :5]), use_cache=True).past_key_values
        whole = network(torch.from_numpy(ids), use_cache=True)
    caches = lambda past: [(layer, which, kept) for layer in range(2) for which, kept in zip(("key", "value"), past[layer])]
    feeds = {"input_ids": ids[:, 5:], "attention_mask": np.ones((2, 9), np.int64), "position_ids": np.tile(np.arange(5, 9), (2, 1))}
    feeds.update({f"past_key_values.{layer}.{which}": kept.numpy() for layer, which, kept in caches(first)})
    expected = {"logits": whole.logits[:, 5:].numpy(), **{f"present.{layer}.{which}": kept.numpy() for layer, which, kept in caches(whole.past_key_values)}}
    return Case(model, {i.name: feeds[i.name] for i in model.graph.input}, [expected[o.name] for o in model.graph.output])


if __name__ == "__main__":
    sys.exit(main(__doc__))
