"""Leases: when each start of an agent was last heard, and which are lost.

Nobody is judged for two limits after a start or after a pause of the judge itself: the silence
may have been its own. For the same reason, when all are silent at once and none has hung up, it is
the judge who is cut off, and they have until their own patience ends. Monotonic seconds only; a
moved wall clock changes nothing.
"""

from collections.abc import Iterable

from reactor_runtime.launcher.agent_messages import AgentStart


class Leases:
    """Who is alive, as far as signs of life tell."""

    def __init__(self, heartbeat_s: float, limit_s: float, patience_s: float) -> None:
        self._pause_s, self._limit_s, self._patience_s = heartbeat_s, limit_s, patience_s
        self._hung_up: set[AgentStart] = set()
        self._heard: dict[AgentStart, float] = {}
        self._alive: set[AgentStart] = set()
        self._lost: set[AgentStart] = set()
        self._judged_at = 0.0
        self._judges_from = 0.0

    def begin(self, now: float, agents: Iterable[AgentStart] = ()) -> None:
        """Begin every lease anew, those of *agents* too, and judge nobody for two limits."""
        self._judged_at = now
        self._judges_from = now + 2 * self._limit_s
        self._heard = dict.fromkeys([*self._heard, *agents], now)

    def hear(self, agent: AgentStart, now: float) -> bool:
        """Note a sign of life; return whether the agent had not been alive before it."""
        self._heard[agent] = now
        was_alive = agent in self._alive
        self._alive.add(agent)
        self._lost.discard(agent)
        self._hung_up.discard(agent)
        return not was_alive

    def hang_up(self, agent: AgentStart) -> None:
        """Note that the agent's end of a held connection was closed: it is gone, or was cut."""
        self._hung_up.add(agent)

    def lose(self, agent: AgentStart) -> None:
        """Count the agent as lost from now on, silent since it was last heard."""
        self._alive.discard(agent)
        self._lost.add(agent)

    def judge(self, now: float) -> set[AgentStart]:
        """Return the agents that are lost from now on. To be called often."""
        if now - self._judged_at > self._pause_s:
            self.begin(now)
        self._judged_at = now
        if now < self._judges_from:
            return set()
        silent = {a for a, heard in self._heard.items() if now - heard > self._limit_s}
        if all(now - heard > 2 * self._pause_s for heard in self._heard.values()):
            silent = {a for a in silent if a in self._hung_up or self._is_given_up(a, now)}
        newly = silent - self._lost
        self._lost |= newly
        self._alive -= newly
        return newly

    def is_alive(self, agent: AgentStart) -> bool:
        """Return whether the agent has been heard since the start and is not lost."""
        return agent in self._alive

    def is_held(self, agent: AgentStart) -> bool:
        """Return whether the agent is alive and has not hung up: nobody else may have its name."""
        return agent in self._alive and agent not in self._hung_up

    def silent_for(self, seconds: float, now: float) -> set[AgentStart]:
        """Return the lost agents that were last heard longer than *seconds* ago."""
        return {a for a in self._lost if now - self._heard[a] > seconds}

    def forget(self, agent: AgentStart) -> None:
        """Drop an agent."""
        self._heard.pop(agent, None)
        self._hung_up.discard(agent)
        self._alive.discard(agent)
        self._lost.discard(agent)

    def _is_given_up(self, agent: AgentStart, now: float) -> bool:
        return now - self._heard[agent] > self._patience_s
