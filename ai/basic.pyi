from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.stop import Stop

class RandomPlayer:
    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision: ...

class GreedyPlayer:
    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision: ...
