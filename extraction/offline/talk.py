"""A conversation as the patterns read it: sentences by side, and which question a line answers."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from extraction.offline.language import Sentence, sentences
from extraction.offline.reading import Line, Reading


@dataclass(slots=True)
class Talk:
    """The sentences of a reading, each once, in order. `user_side` holds those of other speakers, too."""

    reading: Reading
    all: list[Sentence] = field(default_factory=list)
    user_side: list[Sentence] = field(default_factory=list)
    agent_side: list[Sentence] = field(default_factory=list)
    _questions: dict[int, Sentence] = field(default_factory=dict)
    _turns: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, reading: Reading) -> "Talk":
        """Return the talk of `reading`."""
        talk = cls(reading)
        asked: Sentence | None = None
        turn = 0
        for line in reading.lines:
            said = list(sentences(line))
            talk.all += said
            (talk.agent_side if line.is_agent else talk.user_side).extend(said)
            if line.is_agent and said:
                asked = next((s for s in reversed(said) if s.is_question), said[-1])
            elif line.is_user and said:
                talk._turns[line.n] = turn
                turn += 1
                if asked:
                    talk._questions[line.n] = asked
                asked = None
        return talk

    @property
    def users_own(self) -> Iterator[Sentence]:
        """The sentences of the user alone."""
        return (sentence for sentence in self.user_side if sentence.line.is_user)

    def question_before(self, line: Line) -> Sentence | None:
        """Return what the agent asked (else: said last) right before `line` of the user, if anything."""
        return self._questions.get(line.n)

    def turn_of_user(self, line: Line) -> int:
        """Return how many turns the user had before `line`."""
        return self._turns.get(line.n, 0)
