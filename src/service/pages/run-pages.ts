import type { Measurements } from '../../analysis/results/figures/measurements.js'
import { readDetails } from '../../analysis/details/read-details.js'
import { readResults as readRows } from '../../analysis/evidence/count-results.js'
import { apdexTargetMs } from '../runs/run-report.js'
import { findFirstSample } from '../runs/first-sample.js'
import { findNode } from '../runs/node-book.js'
import { createId } from '../store/data-folder.js'
import { describeTool, PAGE_SIZE, Recent, queryOf } from '../service-facts.js'
import { mayChange } from '../accounts/permissions.js'
import type { User } from '../accounts/users.js'
import {
  describeGrids,
  describeUnreadable,
  readResults,
  type ResultsProblem
} from '../judging/read-results.js'
import { judgeSoFar, labelsToFollow, splitLines } from '../judging/judge-run.js'
import { keyOfJudged, type Verdicts } from '../judging/verdicts.js'
import { RequestError } from '../errors.js'
import { messageOf } from '../../contract/text.js'
import type { BaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import type { PagePorts } from './page-access.js'
import type { EventStream } from './send-page.js'
import { saysLoss } from '../runs/findings.js'
import { type FollowedFile, SampleFollower } from './follow-samples.js'
import type { Details } from '../../analysis/outcome.js'
import type { PageDocument } from '../../report/page/build-document.js'
import type { PagePaths } from '../../report/page/page.js'
import type {
  ComparedRun,
  RenderedPage,
  RunLine,
  RunLinks,
  RunListPage,
  RunState,
  ThresholdEditor,
  Visitor
} from '../../report/page/served/served-pages.js'
import { findRowSecrets } from '../runs/row-secrets.js'
import { hasEnded, RUN_STATUSES, type RunRecord, type RunThresholds } from '../../contract/records.js'
import type { RunFilter } from '../store/store.js'
import { describeLinks } from './run-links.js'
import { buildProjectTrend, factsToCompare, findRelated, listChoices, nameOf } from './related-runs.js'
import { warnOfDifferences } from './run-differences.js'
import { type Sight, Watch } from './watch.js'

/** Rendered pages of ended runs are cached, because their results may take seconds to read; only a few, because they may be large. */
const KEPT_DRAWINGS = 8
const HOME = '/'
const LIST_EVENTS = '/events'
const LOGOUT = '/logout'

export interface ListPlace {
  readonly page: number
  readonly filter: RunFilter
}

interface Ports {
  readonly facts: PagePorts
  readonly verdicts: Verdicts
  readonly synthetic: boolean
}

/** Of a run in progress; without samples until its first event. */
interface Followed {
  readonly samples?: SampleFollower
  /** They stay the same until the run ends. */
  readonly links: RunLinks
}

type Refused = Omit<ThresholdEditor, 'path'>

/** The service's web pages: the list of runs, and a page per run, live while it runs. */
export class RunPages {
  readonly #watches = new Map<string, Watch>()
  readonly #drawings = new Recent<{ document: PageDocument; isFinal: boolean }>(
    KEPT_DRAWINGS,
    ({ isFinal }) => isFinal
  )

  constructor(private readonly ports: Ports) {}

  async listPage(place: ListPlace, user: User): Promise<RenderedPage> {
    const list = this.#listOf(place)
    requirePage(place.page, list.total)
    return (await this.ports.facts.loadPages()).renderListPage(list, {
      ...{ eventsPath: pathOf(LIST_EVENTS, place), homePath: HOME, visitor: visitorOf(user) },
      ...{ filter: place.filter, statuses: RUN_STATUSES }
    })
  }

  /** Refuses to show a page that does not exist. */
  requirePlace({ page, filter }: ListPlace): void {
    requirePage(page, this.ports.facts.store.listRuns({ filter, offset: 0, limit: 1 }).total)
  }

  watchList(place: ListPlace, stream: EventStream): void {
    this.#watch(pathOf(HOME, place), stream, () => this.#lookAtList(place))
  }

  /** A run in progress is shown without its figures; they come with the first event. What was typed in and refused stays in the form. */
  async runPage(run: RunRecord, user: User, refused?: Refused): Promise<RenderedPage> {
    const { facts } = this.ports
    const pages = await facts.loadPages()
    const related = findRelated(run, facts.store)
    const page = hasEnded(run)
      ? await this.#showEnded(run, related)
      : await this.#showRunning(run, { links: await describeLinks(run, facts) })
    return pages.renderRunPage(page, this.#pathsOf(run, user, { related, refused }))
  }

  /** The run beside another one, the best one to compare with unless one is named. */
  async comparePage(run: RunRecord, otherId: string | undefined, user: User): Promise<RenderedPage> {
    const { loadPages, store } = this.ports.facts
    const choices = listChoices(run, findRelated(run, store))
    const chosen = otherId ?? choices[0]?.id
    const other = chosen === undefined ? undefined : store.run(chosen)
    if (chosen !== undefined && other === undefined)
      throw new RequestError(404, 'There is no run with this id to compare with; it may have been deleted.')
    for (const each of [run, ...(other ? [other] : [])])
      if (!hasEnded(each))
        throw new RequestError(409, `Run ${each.id} is ${each.status}: compare it once it has ended.`)
    return (await loadPages()).renderComparePage({
      run: await this.#compared(run),
      other: other && (await this.#compared(other)),
      warnings: other ? await warnOfDifferences(run, other, store) : [],
      ...{ comparePath: `${this.#pathOf(run)}/compare`, choices, chosen },
      ...{ homePath: HOME, visitor: visitorOf(user) }
    })
  }

  async #compared(run: RunRecord): Promise<ComparedRun> {
    const facts = factsToCompare(run, this.ports.facts)
    return { name: nameOf(run), path: this.#pathOf(run), facts, page: await this.#drawEnded(run) }
  }

  /** Links and trend are not kept with the drawing: files are deleted, and projects get other runs. */
  async #showEnded(run: RunRecord, related: readonly RunRecord[]): Promise<PageDocument> {
    const { facts } = this.ports
    const [pages, drawing] = [await facts.loadPages(), await this.#drawEnded(run)]
    const trend = await buildProjectTrend(run, related, facts.store)
    return pages.addLinks(drawing, await describeLinks(run, facts), trend)
  }

  /** The page of an ended run as a file: it opens from disk and leads nowhere. */
  async reportPage(run: RunRecord): Promise<string> {
    return (await this.ports.facts.loadPages()).renderRunPage(await this.#drawEnded(run), {}).html
  }

  watchRun(run: RunRecord, stream: EventStream): void {
    let followed: Promise<Followed> | undefined
    this.#watch(this.#pathOf(run), stream, () => this.#lookAtRun(run, () => (followed ??= this.#follow(run))))
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close()
  }

  #watch(path: string, stream: EventStream, look: () => Promise<Sight>): void {
    const watch = this.#watches.get(path) ?? this.#createWatch(path, look)
    this.#watches.set(path, watch)
    watch.add(stream)
  }

  #createWatch(path: string, look: () => Promise<Sight>): Watch {
    for (const [other, { isWatched }] of this.#watches) if (!isWatched) this.#watches.delete(other)
    const onEnd = (thrown?: unknown): void => {
      this.#watches.delete(path)
      if (thrown !== undefined)
        this.ports.facts.log(`could not render the page ${path}: ${messageOf(thrown)}`)
    }
    const countWatched = (): number => [...this.#watches.values()].filter(({ isWatched }) => isWatched).length
    return new Watch({ clock: this.ports.facts.clock, look, onEnd, countWatched })
  }

  async #follow(run: RunRecord): Promise<Followed> {
    const { facts } = this.ports
    const secrets = await findRowSecrets(run, facts.store)
    const { asideGroups = [] } = run
    const files = this.#filesOf(run).map((file) => ({ ...file, asideGroups }))
    const labels = run.thresholds && labelsToFollow(run.thresholds)
    return { samples: new SampleFollower(files, secrets, labels), links: await describeLinks(run, facts) }
  }

  async #lookAtRun(run: RunRecord, follow: () => Promise<Followed>): Promise<Sight> {
    const running = hasEnded(run) ? undefined : await this.#showRunning(run, await follow())
    // It may have ended meanwhile: an open page takes the first document of an ended run for the last.
    if (running && !hasEnded(run)) return { data: JSON.stringify(running), isLast: false }
    const ended = await this.#showEnded(run, findRelated(run, this.ports.facts.store))
    return { data: JSON.stringify(ended), isLast: true }
  }

  async #showRunning(run: RunRecord, { samples, links }: Followed): Promise<PageDocument> {
    const pages = await this.ports.facts.loadPages()
    return pages.addLinks(pages.describeRun(await this.#stateOf(run, await samples?.look())), links)
  }

  async #lookAtList(place: ListPlace): Promise<Sight> {
    const pages = await this.ports.facts.loadPages()
    return { data: JSON.stringify(pages.renderRunList(this.#listOf(place))), isLast: false }
  }

  async #drawEnded(run: RunRecord): Promise<PageDocument> {
    // Its thresholds can be changed at any time.
    const key = keyOfJudged(run, run.thresholds)
    return (await this.#drawings.get(key, () => this.#readEnded(run))).document
  }

  async #readEnded(run: RunRecord): Promise<{ document: PageDocument; isFinal: boolean }> {
    const { loadPages, store, log } = this.ports.facts
    const pages = await loadPages()
    if (run.thresholds !== undefined) {
      const judged = await this.ports.verdicts.judge(run, run.thresholds)
      const state = await this.#stateOf(run, judged.measurements, judged.problems)
      const left = judged.left.map(asWritten)
      const details = await readDetails(judged.countedFiles, { ...judged, thresholds: judged.lines })
      const document = pages.describeRun({ ...state, ...asDetails(details), judged: { ...judged, left } })
      return { document, isFinal: judged.isFinal }
    }
    const { found, problems } = await readResults(run, store, (files) => readRows(files, { warmUpMs: 0 }))
    for (const { detail } of problems) log(describeUnreadable(run, detail))
    const { measurements, countedFiles = [] } = found ?? {}
    const details = await readDetails(countedFiles, { measurements, thresholds: [] })
    const state = await this.#stateOf(run, measurements, problems)
    const document = pages.describeRun({ ...state, ...asDetails(details) })
    return { document, isFinal: problems.length === 0 }
  }

  async #stateOf(
    run: RunRecord,
    measurements?: Measurements,
    problems: readonly ResultsProblem[] = []
  ): Promise<RunState> {
    const { request } = run
    return {
      ...this.#factsOf(run),
      tool: describeTool(run, this.ports.facts),
      threads: request.threads ?? undefined,
      durationSeconds: request.durationSec ?? undefined,
      startedMs: run.startedMs ?? undefined,
      stoppedMs: run.stoppedMs ?? undefined,
      nowMs: this.ports.facts.clock.now(),
      firstSampleMs: await findFirstSample(run, this.ports.facts.store),
      apdexTargetMs: apdexTargetMs(request.properties),
      summary: run.report?.summary,
      warnings: run.warnings ?? [],
      grids: hasEnded(run) ? await describeGrids(run, problems, this.ports.facts.store) : [],
      nodes: run.nodes,
      isAllHere: this.ports.facts.places.regions === undefined,
      measurements,
      resultsProblem: problems.length === 0 ? undefined : problems.map(({ words }) => words).join('; '),
      ...(run.thresholds && !hasEnded(run) && { judged: describeSoFar(run, run.thresholds, measurements) })
    }
  }

  #filesOf(run: RunRecord): FollowedFile[] {
    const { store } = this.ports.facts
    return store.gridsOf(run).flatMap(({ id, spec }) =>
      Array.from({ length: spec.instanceQuantity }, (_, index) => ({
        file: store.folder.nodeFiles({ runId: run.id, gridId: id, index }).samplesFile,
        grid: id,
        region: spec.region,
        offsetMs: () => findNode(run, id, index)?.clockOffsetMs ?? 0
      }))
    )
  }

  #listOf({ page, filter }: ListPlace): RunListPage {
    const start = (page - 1) * PAGE_SIZE
    const { runs, total } = this.ports.facts.store.listRuns({ filter, offset: start, limit: PAGE_SIZE })
    const last = countPages(total)
    const pathTo = (number: number): string => pathOf(HOME, { page: number, filter })
    return {
      runs: runs.map((run) => this.#lineOf(run)),
      first: start + 1,
      total,
      ...(page > 2 && { newestPath: pathTo(1) }),
      ...(page > 1 && { newerPath: pathTo(page - 1) }),
      ...(page < last && { olderPath: pathTo(page + 1) }),
      ...(page < last - 1 && { oldestPath: pathTo(last) }),
      ...(Object.keys(filter).length > 0 && { clearPath: HOME })
    }
  }

  #lineOf(run: RunRecord): RunLine {
    const judged = this.ports.verdicts.glance(run)
    const isPending = run.thresholds !== undefined && hasEnded(run)
    return {
      path: this.#pathOf(run),
      ...this.#factsOf(run),
      apdex: run.apdex ?? undefined,
      createdMs: run.createdMs,
      elapsedMs:
        run.startedMs === null ? undefined : (run.stoppedMs ?? this.ports.facts.clock.now()) - run.startedMs,
      samples: run.samples ?? undefined,
      errorRate: run.report?.mean_error_rate == null ? undefined : run.report.mean_error_rate / 100,
      isLoadLost: saysLoss(run.remoteErrors),
      project: run.request.project ?? undefined,
      verdict: judged?.verdict ?? (isPending ? 'pending' : undefined),
      reason: judged?.reason
    }
  }

  #factsOf(run: RunRecord) {
    const { accounts, queue } = this.ports.facts
    const { id, status, user, request, remoteErrors } = run
    return {
      ...{ id, status, name: request.name ?? undefined, problem: remoteErrors ?? undefined },
      rehearsal: run.report?.rehearsal ?? this.ports.synthetic,
      // Somebody else may have the name of a removed user now.
      user: user && accounts.isRemoved(user.id) ? `${user.name} (removed)` : user?.name,
      queuePosition: queue.positionOf(id) ?? undefined
    }
  }

  #pathOf(run: RunRecord): string {
    return `/${this.ports.facts.words.runs}/${run.id}`
  }

  /** What only some may do is not offered to the others. */
  #pathsOf(
    run: RunRecord,
    user: User,
    { related, refused }: { related: readonly RunRecord[]; refused: Refused | undefined }
  ): PagePaths {
    const path = this.#pathOf(run)
    const isAllowed = mayChange(user, run)
    const { text = '', warmUpSec } = run.thresholds ?? {}
    const editor: ThresholdEditor = {
      path: `${path}/thresholds`,
      ...{ text, warmUp: warmUpSec?.toString() ?? '', problems: [] },
      ...refused
    }
    return {
      eventsPath: `${path}/events`,
      homePath: HOME,
      visitor: visitorOf(user),
      actions: {
        comparePath: `${path}/compare`,
        choices: listChoices(run, related),
        ...(isAllowed &&
          this.ports.facts.store.folder.hasUploads(run) && {
            repeat: { path: `${path}/repeat`, once: createId() }
          })
      },
      ...(isAllowed && { stopPath: `${path}/stop`, editor })
    }
  }
}

function countPages(runs: number): number {
  return Math.max(1, Math.ceil(runs / PAGE_SIZE))
}

/** An empty list has one page too. */
function requirePage(page: number, total: number): void {
  const last = countPages(total)
  if (page > last)
    throw new RequestError(404, `There is no page ${page} of the list of runs; the last one is ${last}.`)
}

function pathOf(path: string, { page, filter }: ListPlace): string {
  return `${path}${queryOf(filter, page === 1 ? undefined : page)}`
}

function visitorOf({ name }: User): Visitor {
  return { name, logoutPath: LOGOUT }
}

function asDetails(details: Details | string): Pick<RunState, 'details'> {
  return typeof details === 'string' ? {} : { details }
}

/** No verdict: a line that holds now may break later. */
function describeSoFar(run: RunRecord, thresholds: RunThresholds, measurements: Measurements | undefined) {
  const { warmUpSec } = thresholds
  const isWarm = warmUpSec === undefined || measurements === undefined
  return {
    ...{ verdict: undefined, reason: '', warnings: [] },
    judgements: measurements === undefined ? [] : judgeSoFar(run, thresholds, measurements),
    left: splitLines(thresholds).left.map(asWritten),
    notes: isWarm ? [] : [`The first ${warmUpSec} s are left out once the run has ended, not before.`]
  }
}

function asWritten({ level, text }: BaselineThreshold): string {
  return level === 'warn' ? `warn: ${text}` : text
}
