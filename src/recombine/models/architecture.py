"""Everything that the paper's networks differ in (appendices A, D and F)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The shape of a recombination network p(d | d'1..n), or of a predictor, whose one prototype is x.

    Attributes:
        vocabulary: Number of token ids.
        prototypes: n.
        hidden: Size of LSTM states.
        embedding: Size of token embeddings.
        attention: Size of attention projections (tanh keys, queries and values); 0: linear key, nothing else projected.
        own_attention: The decoder attends to (and may copy from) its own output.
        copying: ``joint``: one softmax over vocabulary and prototype positions. ``gated``: a gated mixture of streams.
            ``symbol``: a mixture in which each stream of copies is one more symbol to write, as in the authors'
            networks for word forms. ``penalized``: the same, but copying costs extra in training, as in their
            predictors. ``none``: no copying.
        shared_embedding: Encoder and decoder share one embedding table.
        tied_output: Output scores are products of the feed vector with the (decoder's) embeddings; else a linear layer.
        project_encoder: Project the encoder's two directions to one hidden size.
        start_from_encoder: The decoder starts from the encoders' final states; else from zeros.
        forget_bias: What the forget gates' biases start higher by; the authors' networks for word forms have 0.
        reach: Relative positions in attention up to this distance, as in the authors' code; 0: none, as in the paper.
        dropout: On embeddings, and on the feed vector where it is fed back.
        state_dropout: On the decoder's state before the feed vector is computed; when sampling, too.
        feed_dropout: On the feed vector before the output layer.
        feed_dropped_twice: Whether the feed vector is fed back as `feed_dropout` left it, for `dropout` to drop more of
            it, as in the authors' predictors; else whole, for `dropout` alone.
        write_dropout: How often, in training, a token that could be copied must be.
        write_seen_only: Tokens that no training target holds are never written, only copied. Else training pushes
            their probability down at every step, and with tied output drives their embeddings away from all others.
        hide_shared_tokens: Later prototypes show only the tokens that the first one lacks, and not where they stand.
        latent: Size of z; 0: no latent variable.
        kappa: Concentration of the proposal for z.
        epsilon: Width of the proposal's norm.
        largest_norm: The prior's largest norm.
    """

    vocabulary: int
    prototypes: int = 2
    hidden: int = 512
    embedding: int = 64
    attention: int = 128
    own_attention: bool = False
    copying: Literal["joint", "gated", "symbol", "penalized", "none"] = "joint"
    shared_embedding: bool = True
    tied_output: bool = True
    project_encoder: bool = False
    start_from_encoder: bool = False
    forget_bias: float = 1.0
    reach: int = 0
    dropout: float = 0.5
    state_dropout: float = 0.7
    feed_dropout: float = 0.0
    feed_dropped_twice: bool = False
    write_dropout: float = 0.5
    write_seen_only: bool = False
    hide_shared_tokens: bool = False
    latent: int = 0
    kappa: float = 25.0
    epsilon: float = 1.0
    largest_norm: float = 10.0

    @property
    def gates(self) -> int:
        """How many streams a gate weighs: those of copies, and that of writing unless copies are symbols to write."""
        copied = self.own_attention + self.prototypes
        return {"gated": 1 + copied, "symbol": copied, "penalized": copied}.get(self.copying, 0)

    @property
    def feed(self) -> int:
        """Size of the feed vector: what the output layer takes."""
        return self.embedding if self.tied_output else self.hidden
