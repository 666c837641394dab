"""Scenarios on one mock: found by name, begun and ended, with what they change."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from engy_mock.books.account import Account
from engy_mock.books.accounts import Accounts
from engy_mock.books.tariff import Tariff, checked
from engy_mock.gateway.settings import Settings
from engy_mock.gateway.settings import checked as settled
from engy_mock.model.cards import ModelCard, Prices
from engy_mock.model.catalog import Catalog
from engy_mock.scripting.early import is_early
from engy_mock.scripting.library import Library
from engy_mock.scripting.stage import Scene, Stage
from engy_mock.vocabulary.errors import MockError, did_you_mean

if TYPE_CHECKING:
    from engy_mock.scripting.forms import ModelForm
    from engy_mock.scripting.scenario import Scenario


ANY = "*"
"""Stands for all scenarios."""


class Mocked(Protocol):
    """What scenarios act on."""

    catalog: Catalog
    settings: Settings
    accounts: Accounts

    def now(self) -> float:
        """Unix time on the mock's clock."""
        ...

    def expect_heads(self) -> None:
        """A rule is going to act before bodies are read."""
        ...


class Scenes:
    """The scenarios of one mock."""

    def __init__(self, mocked: Mocked) -> None:
        self.library = Library()
        self.stage = Stage(mocked.now, self._change)
        self._aside: dict[str, Stage] = {}
        self._mocked = mocked
        self._cards: dict[str, ModelCard] = {}
        self._settings: dict[str, Any] = {}
        self._terms: dict[str, Any] = {}
        self._account: Account | None = None

    def look_in(self, folders: Iterable[str | Path]) -> None:
        """Look for scenarios in these folders before those that come with the package."""
        self.library = Library(Path(folder) for folder in folders)

    def begin(self, wanted: "str | Path | Scenario") -> Scene:
        """Let a scenario take part, and all that it includes behind it; raises MockError."""
        # Loaded here, not above: a mock without scenarios does not pay for them.
        from engy_mock.scripting.scenario import Scenario

        if isinstance(wanted, Scenario):
            return self.play(self.unfolded(wanted))
        if not isinstance(wanted, str | Path):
            raise MockError(f"a scenario is a name, a path or a Scenario, got {wanted!r:.80}")
        return self.play(self.unfolded(self.library.named(wanted)))

    def unfolded(self, scenario: "Scenario") -> "Sequence[Scenario]":
        """A scenario and all that it includes, in the order in which they take part; raises MockError."""
        parts = list(self.library.with_included(scenario))
        for part in parts:
            self.check(part)
        return parts

    def play(self, parts: "Sequence[Scenario]") -> Scene:
        """Let these take part; returns the first of them. Raises MockError, and then none of them does."""
        for part in parts:
            self.stage.check(part)
        if any(is_early(rule.faults) for part in parts for rule in part.all_rules):
            self._mocked.expect_heads()
        scene, *_ = [self.stage.begin(part) for part in parts]
        return scene

    def play_again(self, parts: "Sequence[Scenario]") -> None:
        """Let what has been read again take part as it is now, in its phase; what is as before goes on."""
        under_way = {scene.name: scene for scene in self.stage.scenes}
        phases = {name: scene.phase for name, scene in under_way.items()}
        changed = [
            part
            for part in parts
            if part.name not in under_way or under_way[part.name].scenario.mark != part.mark or part.mark is None
        ]
        if changed:
            self.play(changed)
        for scene in self.stage.scenes:
            phase = phases.get(scene.name)
            is_anew = any(scene.scenario is part for part in changed)
            if is_anew and phase in [one.name for one in scene.scenario.phases]:
                scene.go(str(phase))

    def read_again(self, path: Path) -> None:
        """Let the scenario in a file that has been saved be as it is now; raises MockError, and all is as before.

        A scenario that requests ask for begins anew.
        """
        name = str(path)
        parts = [
            part
            for scene in self.stage.scenes
            if scene.scenario.source == name
            for part in self.unfolded(self.library.named(path))
        ]
        aside = {
            asked: self._set_aside(asked)
            for asked, stage in tuple(self._aside.items())
            if any(scene.scenario.source == name for scene in stage.scenes)
        }
        self.play_again(parts)
        self._aside.update(aside)

    @property
    def from_files(self) -> "Sequence[Scenario]":
        """All that are under way and come from files, also those that only some requests ask for."""
        stages = (self.stage, *tuple(self._aside.values()))
        scenarios = [scene.scenario for stage in stages for scene in stage.scenes]
        return [scenario for scenario in scenarios if scenario.mark is not None]

    def mistakes(self, wanted: "str | Path") -> list[str]:
        """All that is wrong with a scenario, and with those that it includes, each mistake with its place."""
        found: list[str] = []

        def tell(error: MockError) -> None:
            # A mistake in a file names the file; what is wrong with the name itself does not.
            said = str(error) if str(error).startswith(str(wanted)) else f"{wanted}: {error}"
            found.extend(getattr(error, "mistakes", (said,)))

        for part in self.library.with_mistakes(wanted, tell):
            try:
                self.check(part)
            except MockError as error:
                tell(error)
        return found

    def check(self, scenario: "Scenario") -> None:
        """Raise MistakenFile for models and settings that there are not."""
        from engy_mock.scripting.mistakes import MistakenFile

        found = [*wrong_settings(scenario), *self._wrong_terms(scenario), *self._wrong_models(scenario)]
        if found:
            raise MistakenFile(tuple(found))

    def aside(self, name: str) -> Stage:
        """A scenario that only some requests ask for, with all that it includes.

        Raises MockError for one that there is not, and for what it takes more than an answer to make true.
        """
        stage = self._aside.get(name)
        if stage is None:
            stage = self._aside.setdefault(name, self._set_aside(name))
        return stage

    def check_aside(self, names: Iterable[str]) -> None:
        """Raise MockError for scenarios that no request can ask for; `*` stands for all that one can."""
        for name in names:
            if name != ANY:
                self._set_aside(name)

    def _set_aside(self, name: str) -> Stage:
        stage = Stage(self._mocked.now, lambda: None)
        for part in self.library.with_included(self.library.find(name)):
            common = beyond_rules(part)
            if common:
                raise MockError(
                    f"scenario {part.name} has {' and '.join(common)}, which are the same for all requests:"
                    " one alone cannot ask for it"
                )
            stage.begin(part)
        return stage

    def clear(self) -> None:
        """End all scenarios."""
        self.stage.clear()
        self._aside = {}

    def beneath(self, change: Callable[[], None]) -> None:
        """Let a function change the mock as it is without what scenarios make of it."""
        with self.stage.still():
            self._lift()
            try:
                change()
            finally:
                self._lay()

    def _change(self) -> None:
        """Make models, settings and terms what the scenarios under way make of them."""
        self._lift()
        self._lay()

    def _lift(self) -> None:
        """Make them what they are without scenarios."""
        catalog, settings = self._mocked.catalog, self._mocked.settings
        for card in self._cards.values():
            catalog.add(card)
        for name, value in self._settings.items():
            setattr(settings, name, value)
        for name, value in self._terms.items():
            # An account that a reset has put aside keeps its terms to itself.
            setattr(self._account, name, value)
        self._cards, self._settings, self._terms = {}, {}, {}

    def _lay(self) -> None:
        catalog, settings = self._mocked.catalog, self._mocked.settings
        account = self._account = self._mocked.accounts.default
        for scene in self.stage.scenes:
            phase = scene.current
            for group in (scene.scenario.models, {} if phase is None else phase.models):
                for model, form in group.items():
                    before = self._card(model)
                    self._cards.setdefault(model, before)
                    catalog.add(_changed(before, form))
            for name, value in scene.scenario.settings.items():
                self._settings.setdefault(name, getattr(settings, name))
                setattr(settings, name, value)
            for name, value in scene.scenario.account.items():
                self._terms.setdefault(name, getattr(account, name))
                setattr(account, name, value)

    def _wrong_terms(self, scenario: "Scenario") -> Iterator[str]:
        percent = scenario.account.get("discount_percent", 0)
        try:
            checked(Tariff(discount_percent=percent), self._mocked.accounts.models())
        except MockError as error:
            yield f"{scenario.at('account', 'discount_percent')}: {error}"

    def _wrong_models(self, scenario: "Scenario") -> Iterator[str]:
        known = [card.id for card in self._mocked.catalog]
        groups: list[tuple[tuple[str | int, ...], Mapping[str, ModelForm]]] = [(("models",), scenario.models)]
        groups += [(("phases", place, "models"), phase.models) for place, phase in enumerate(scenario.phases)]
        for place, group in groups:
            for model in group:
                if model not in known:
                    hint = did_you_mean(model, known)
                    yield f"{scenario.at(*place, model)}: unknown model {model!r:.80}.{hint}"

    def _card(self, model: str) -> ModelCard:
        return next(card for card in self._mocked.catalog if card.id == model)


def beyond_rules(scenario: "Scenario") -> list[str]:
    """What a scenario changes about the mock itself, by its keys: there is no such thing for one request alone."""
    models = [*scenario.models, *(model for phase in scenario.phases for model in phase.models)]
    parts = {"settings": scenario.settings, "account": scenario.account, "models": models}
    return [key for key, said in parts.items() if said]


def _changed(card: ModelCard, form: "ModelForm") -> ModelCard:
    """A model with what a scenario says of it."""
    said = form.model_dump(exclude_none=True)
    factor = said.pop("price_factor", None)
    if factor is not None:
        by = Decimal(str(factor))
        prices = card.prices
        said["prices"] = Prices(input=prices.input * by, output=prices.output * by, cached=prices.cached * by)
    return replace(card, **said)


def wrong_settings(scenario: "Scenario") -> Iterator[str]:
    """The settings that no mock has, and the values that they cannot have, each with its place."""
    for name, value in scenario.settings.items():
        try:
            settled(name, value)
        except MockError as error:
            yield f"{scenario.at('settings', name)}: {error}"
