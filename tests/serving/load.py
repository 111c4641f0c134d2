"""Many clients at once, each of which knows what the answers must be."""
import http.client
import json
import threading
import time

import numpy as np
from client import tensor


class Load:
    """`clients` threads that send requests of one to four rows to a model `scaled` and count what comes back. `factors`: which results are right. `pause`: seconds of each
    between two requests, which leave the processor to compilers."""

    def __init__(self, server, clients, factors, model="scaled", pause=0.005):
        self.server, self.factors, self.model, self.pause = server, factors, model, pause
        self.right = self.wrong = self.refused = 0
        self.statuses, self.faults = {}, []
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(k,)) for k in range(clients)]
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._stop.set()
        self.join()

    def join(self):
        for thread in self._threads:
            thread.join()

    def _run(self, k):
        random = np.random.default_rng(k)
        connection = None
        while not self._stop.is_set():
            x = random.integers(-1000, 1000, (int(random.integers(1, 5)), 3)).astype(np.float32)
            body = json.dumps({"inputs": [tensor("x", "FP32", x)]})
            if connection is None:
                connection = self.server.connect()
                try:
                    connection.connect()
                except OSError:  # it has ended: nothing was sent, so nothing is lost
                    with self._lock:
                        self.refused += 1
                    return
            try:
                connection.request("POST", f"/v2/models/{self.model}/infer", body)
                answer = connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                with self._lock:
                    self.faults.append(repr(error))
                connection = None
                time.sleep(0.01)
                continue
            if answer.getheader("Connection", "") == "close":
                connection.close()
                connection = None
            with self._lock:
                self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
                if answer.status == 200:
                    y = np.array(json.loads(content)["outputs"][0]["data"], np.float32)
                    good = any(np.array_equal(y, (x * factor).ravel()) for factor in self.factors)
                    self.right += good
                    self.wrong += not good
            time.sleep(self.pause)
        if connection is not None:
            connection.close()
