"""What each error says: what is wrong, and the next step. One module a subject."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from fusescope.analysis.messages.errors.commands import COMMANDS, CommandsError
from fusescope.analysis.messages.errors.compilers import COMPILERS, CompilersError
from fusescope.analysis.messages.errors.contents import CONTENTS, ContentsError
from fusescope.analysis.messages.errors.dashboard import DASHBOARD, DashboardError
from fusescope.analysis.messages.errors.databases import DATABASES, DatabasesError
from fusescope.analysis.messages.errors.documents import DOCUMENTS, DocumentsError
from fusescope.analysis.messages.errors.engines import ENGINES, EnginesError
from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.errors.experiments import EXPERIMENTS, ExperimentsError
from fusescope.analysis.messages.errors.files import FILES, FilesError
from fusescope.analysis.messages.errors.gating.conditions import CONDITIONS, ConditionsError
from fusescope.analysis.messages.errors.inputs.archives import ARCHIVES, ArchivesError
from fusescope.analysis.messages.errors.inputs.exports import EXPORTS, ExportsError
from fusescope.analysis.messages.errors.inputs.foreign import FOREIGN, ForeignError
from fusescope.analysis.messages.errors.kept.baselines import BASELINES, BaselineError
from fusescope.analysis.messages.errors.kept.fleet import FLEET, FleetError
from fusescope.analysis.messages.errors.kept.library import LIBRARY, LibraryError
from fusescope.analysis.messages.errors.kept.releases import RELEASES, ReleasesError
from fusescope.analysis.messages.errors.kept.sql import SQL, SqlError
from fusescope.analysis.messages.errors.limits import LIMITS, LimitsError
from fusescope.analysis.messages.errors.models import MODELS, ModelsError
from fusescope.analysis.messages.errors.outputs import OUTPUTS, OutputsError
from fusescope.analysis.messages.errors.own_commands import OWN_COMMANDS, OwnCommandsError
from fusescope.analysis.messages.errors.recipes import RECIPES, RecipesError
from fusescope.analysis.messages.errors.recording.devices import DEVICES, DevicesError
from fusescope.analysis.messages.errors.recording.requests import REQUESTS, RequestsError
from fusescope.analysis.messages.errors.rules import RULES, RulesError
from fusescope.analysis.messages.errors.runtimes import RUNTIMES, RuntimesError
from fusescope.analysis.messages.errors.tables import TABLES, TablesError
from fusescope.analysis.messages.errors.variants import VARIANTS, VariantsError

ErrorCode = (
    ArchivesError
    | BaselineError
    | CommandsError
    | ConditionsError
    | ContentsError
    | DatabasesError
    | DevicesError
    | DocumentsError
    | ExperimentsError
    | FilesError
    | ForeignError
    | ExportsError
    | LibraryError
    | FleetError
    | ReleasesError
    | SqlError
    | LimitsError
    | RecipesError
    | DashboardError
    | EnginesError
    | ModelsError
    | OutputsError
    | OwnCommandsError
    | RequestsError
    | RulesError
    | RuntimesError
    | VariantsError
    | TablesError
    | CompilersError
)
ERRORS: Mapping[ErrorCode, ErrorText] = dict(
    chain[tuple[ErrorCode, ErrorText]](
        ARCHIVES.items(),
        BASELINES.items(),
        COMMANDS.items(),
        CONDITIONS.items(),
        CONTENTS.items(),
        DATABASES.items(),
        DEVICES.items(),
        DOCUMENTS.items(),
        EXPERIMENTS.items(),
        FILES.items(),
        FOREIGN.items(),
        EXPORTS.items(),
        LIBRARY.items(),
        FLEET.items(),
        RELEASES.items(),
        SQL.items(),
        LIMITS.items(),
        RECIPES.items(),
        DASHBOARD.items(),
        ENGINES.items(),
        MODELS.items(),
        OUTPUTS.items(),
        OWN_COMMANDS.items(),
        REQUESTS.items(),
        RULES.items(),
        RUNTIMES.items(),
        VARIANTS.items(),
        TABLES.items(),
        COMPILERS.items(),
    )
)
