"""The decoder of network.py in numpy: its loss, and its gradients by hand."""
import numpy as np
from network import EPSILON, inverse_frequencies


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def halves(x):
    return np.split(x, 2, axis=-1)


class Tape:
    """Values forwards; each step leaves a function that takes the gradient of its result to those of its operands. Rows are [n, length, width]."""

    def __init__(self, size, weights, length):
        self.size, self.weights = size, weights
        self.gradients = {name: np.zeros_like(w) for name, w in weights.items()}
        angles = np.arange(length, dtype=np.float32)[:, None] * np.tile(inverse_frequencies(size), 2)
        self.cos, self.sin = np.cos(angles), np.sin(angles)
        self.blocked = np.triu(np.full((length, length), -1e9, np.float32), 1)

    def linear(self, x, name):
        weight = self.weights[name]

        def back(d):
            self.gradients[name] += x.reshape(-1, x.shape[-1]).T @ d.reshape(-1, d.shape[-1])
            return d @ weight.T

        return x @ weight, back

    def norm(self, x, name):
        weight = self.weights[name]
        inverse = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        scaled = x * inverse

        def back(d):
            self.gradients[name] += (d * scaled).sum(axis=(0, 1))
            d = d * weight
            return inverse * (d - scaled * (d * scaled).mean(axis=-1, keepdims=True))

        return scaled * weight, back

    def rotated(self, x):
        first, second = halves(x)
        return x * self.cos + np.concatenate([-second, first], axis=-1) * self.sin

    def rotated_back(self, d):
        first, second = halves(d * self.sin)
        return d * self.cos + np.concatenate([second, -first], axis=-1)

    def attention(self, x, at):
        size, (n, length, _) = self.size, x.shape
        # Heads are [n, groups, heads of a group, length, depth]; those of keys and values have one in each group.
        heads = lambda v: v.reshape(n, length, size.groups, -1, size.depth).transpose(0, 2, 3, 1, 4)
        joined = lambda v: v.transpose(0, 3, 1, 2, 4).reshape(n, length, -1)
        (q, back_q), (k, back_k), (v, back_v) = (self.linear(x, f"{at}.{part}_proj") for part in "qkv")
        q, k, v = self.rotated(heads(q)), self.rotated(heads(k)), heads(v)
        scale = np.float32(size.depth**-0.5)
        scores = q @ k.swapaxes(-1, -2) * scale + self.blocked
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        y, back_out = self.linear(joined(shares @ v), f"{at}.o_proj")

        def back(d):
            d = heads(back_out(d))
            dv = (shares.swapaxes(-1, -2) @ d).sum(axis=2, keepdims=True)
            ds = d @ v.swapaxes(-1, -2)
            ds = shares * (ds - (ds * shares).sum(axis=-1, keepdims=True)) * scale
            dk = (ds.swapaxes(-1, -2) @ q).sum(axis=2, keepdims=True)
            return back_q(joined(self.rotated_back(ds @ k))) + back_k(joined(self.rotated_back(dk))) + back_v(joined(dv))

        return y, back

    def perceptron(self, x, at):
        (gate, back_gate), (up, back_up) = self.linear(x, f"{at}.gate_proj"), self.linear(x, f"{at}.up_proj")
        s = sigmoid(gate)
        silu = gate * s
        y, back_down = self.linear(silu * up, f"{at}.down_proj")

        def back(d):
            d = back_down(d)
            return back_gate(d * up * (s + silu * (1 - s))) + back_up(d * silu)

        return y, back


def loss_of(size, weights, ids, left_out=0, random=None):
    """[n, length + 1] tokens -> the mean cross entropy of each token after the first, and the gradients of the weights. left_out: the share of what each part
    adds that is dropped (dropout)."""
    before, after = ids[:, :-1], ids[:, 1:]
    tape, table = Tape(size, weights, before.shape[1]), weights["embed_tokens"]
    x, steps = table[before], []
    for layer in range(size.layers):
        at = f"layers.{layer}"
        for norm, part in ((f"{at}.input_norm", tape.attention), (f"{at}.post_attention_norm", tape.perceptron)):
            normed, back_norm = tape.norm(x, norm)
            y, back_part = part(normed, at)
            kept = np.float32(1) if random is None else (random.random(y.shape, np.float32) >= left_out) / np.float32(1 - left_out)
            x = x + y * kept
            steps.append((back_norm, back_part, kept))
    normed, back_norm = tape.norm(x, "norm")
    logits = normed @ table.T
    logits -= logits.max(axis=-1, keepdims=True)
    shares = np.exp(logits)
    shares /= shares.sum(axis=-1, keepdims=True)
    of_next = np.take_along_axis(shares, after[:, :, None], axis=-1)
    loss = -np.log(of_next + 1e-30).mean()

    d = shares
    np.put_along_axis(d, after[:, :, None], of_next - 1, axis=-1)
    d /= after.size
    tape.gradients["embed_tokens"] += d.reshape(-1, size.vocabulary).T @ normed.reshape(-1, size.width)
    d = back_norm(d @ table)
    for back_norm, back_part, kept in reversed(steps):
        d = d + back_norm(back_part(d * kept))
    np.add.at(tape.gradients["embed_tokens"], before, d)
    return loss, tape.gradients
