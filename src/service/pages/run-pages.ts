import { findNode } from '../runs/node-book.js'
import { createId } from '../store/data-folder.js'
import type { SeenRuns } from '../store/seen-runs.js'
import { Recent } from '../service-facts.js'
import { mayChange } from '../accounts/permissions.js'
import { warnOfEnd } from '../accounts/token-end.js'
import type { User } from '../accounts/users.js'
import { labelsToFollow } from '../judging/judge-run.js'
import { keyOfJudged } from '../judging/verdicts.js'
import { RequestError } from '../errors.js'
import { asSentence, capitalize, messageOf } from '../../contract/text.js'
import { describeHold } from '../store/queue-hold.js'
import type { EventStream } from './send-page.js'
import { type FollowedFile, SampleFollower } from './follow-samples.js'
import type { PageDocument } from '../../report/page/build-document.js'
import type { PagePaths } from '../../report/page/page.js'
import type {
  ComparedRun,
  RenderedPage,
  RunLinks,
  ThresholdEditor,
  Visitor
} from '../../report/page/served/served-pages.js'
import { findRowSecrets } from '../runs/row-secrets.js'
import { hasEnded, RUN_STATUSES, type RunRecord } from '../../contract/records.js'
import { describeLinks } from './run-links.js'
import { describeList, HOME, type ListPlace, listPath, requirePage } from './run-lines.js'
import { type RunPagePorts, pathOf, readEnded, stateOf } from './run-state.js'
import { buildProjectTrend, factsToCompare, findRelated, listChoices, nameOf } from './related-runs.js'
import { warnOfDifferences } from '../runs/run-differences.js'
import { type Sight, Watch } from './watch.js'

/** Rendered pages of ended runs are cached, because their results may take seconds to read; only a few, because they may be large. */
const KEPT_DRAWINGS = 8
const LIST_EVENTS = '/events'
const LOGOUT = '/logout'

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

  constructor(private readonly ports: RunPagePorts) {}

  async listPage(place: ListPlace, user: User): Promise<RenderedPage> {
    const list = describeList(place, this.ports.facts.seenBy(user), this.ports)
    requirePage(place.page, list.total)
    return (await this.ports.facts.loadPages()).renderListPage(list, {
      ...{
        eventsPath: listPath(LIST_EVENTS, place),
        homePath: HOME,
        visitor: visitorOf(user, this.ports.facts)
      },
      ...{ filter: place.filter, statuses: RUN_STATUSES }
    })
  }

  /** Refuses to show a page that does not exist. */
  requirePlace({ page, filter }: ListPlace, user: User): void {
    const { total } = this.ports.facts.seenBy(user).listRuns({ filter, offset: 0, limit: 1 })
    requirePage(page, total)
  }

  watchList(place: ListPlace, user: User, stream: EventStream): void {
    const seen = this.ports.facts.seenBy(user)
    const watched = { path: listPath(HOME, place), sight: seen.keyIn(place.filter.project) }
    this.#watch(watched, stream, () => this.#lookAtList(place, seen))
  }

  /** A run in progress is shown without its figures; they come with the first event. What was typed in and refused stays in the form. */
  async runPage(run: RunRecord, user: User, refused?: Refused): Promise<RenderedPage> {
    const { facts } = this.ports
    const pages = await facts.loadPages()
    const related = findRelated(run, facts.seenBy(user))
    const page = hasEnded(run)
      ? await this.#showEnded(run, related)
      : await this.#showRunning(run, { links: await describeLinks(run, facts) })
    return pages.renderRunPage(page, this.#pathsOf(run, user, { related, refused }))
  }

  /** The run beside another one, the best one to compare with unless one is named. */
  async comparePage(run: RunRecord, otherId: string | undefined, user: User): Promise<RenderedPage> {
    const { loadPages, store, seenBy } = this.ports.facts
    const seen = seenBy(user)
    const choices = listChoices(run, findRelated(run, seen))
    const chosen = otherId ?? choices[0]?.id
    const other = chosen === undefined ? undefined : seen.run(chosen)
    if (chosen !== undefined && other === undefined)
      throw new RequestError(404, 'There is no run with this id to compare with; it may have been deleted.')
    for (const each of [run, ...(other ? [other] : [])])
      if (!hasEnded(each))
        throw new RequestError(409, `Run ${each.id} is ${each.status}: compare it once it has ended.`)
    return (await loadPages()).renderComparePage({
      run: await this.#compared(run),
      other: other && (await this.#compared(other)),
      warnings: other ? await warnOfDifferences(run, other, store) : [],
      ...{ comparePath: `${pathOf(run, this.ports)}/compare`, choices, chosen },
      ...{ homePath: HOME, visitor: visitorOf(user, this.ports.facts) }
    })
  }

  async #compared(run: RunRecord): Promise<ComparedRun> {
    const facts = factsToCompare(run, this.ports.facts)
    return { name: nameOf(run), path: pathOf(run, this.ports), facts, page: await this.#drawEnded(run) }
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

  watchRun(run: RunRecord, user: User, stream: EventStream): void {
    const seen = this.ports.facts.seenBy(user)
    let followed: Promise<Followed> | undefined
    const watched = { path: pathOf(run, this.ports), sight: seen.keyIn(run.request.project) }
    this.#watch(watched, stream, () => this.#lookAtRun(run, seen, () => (followed ??= this.#follow(run))))
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close()
  }

  /** One watch for all who see the same there. */
  #watch(
    { path, sight }: { path: string; sight: string },
    stream: EventStream,
    look: () => Promise<Sight>
  ): void {
    const key = `${path} ${sight}`
    const watch = this.#watches.get(key) ?? this.#createWatch({ key, path }, look)
    this.#watches.set(key, watch)
    watch.add(stream)
  }

  #createWatch({ key, path }: { key: string; path: string }, look: () => Promise<Sight>): Watch {
    for (const [other, { isWatched }] of this.#watches) if (!isWatched) this.#watches.delete(other)
    const onEnd = (thrown?: unknown): void => {
      this.#watches.delete(key)
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

  async #lookAtRun(run: RunRecord, seen: SeenRuns, follow: () => Promise<Followed>): Promise<Sight> {
    const running = hasEnded(run) ? undefined : await this.#showRunning(run, await follow())
    // It may have ended meanwhile: an open page takes the first document of an ended run for the last.
    if (running && !hasEnded(run)) return { data: JSON.stringify(running), isLast: false }
    const ended = await this.#showEnded(run, findRelated(run, seen))
    return { data: JSON.stringify(ended), isLast: true }
  }

  async #showRunning(run: RunRecord, { samples, links }: Followed): Promise<PageDocument> {
    const pages = await this.ports.facts.loadPages()
    return pages.addLinks(pages.describeRun(await stateOf(run, this.ports, await samples?.look())), links)
  }

  async #lookAtList(place: ListPlace, seen: SeenRuns): Promise<Sight> {
    const pages = await this.ports.facts.loadPages()
    return { data: JSON.stringify(pages.renderRunList(describeList(place, seen, this.ports))), isLast: false }
  }

  async #drawEnded(run: RunRecord): Promise<PageDocument> {
    // Its thresholds can be changed at any time.
    const key = keyOfJudged(run, run.thresholds)
    return (await this.#drawings.get(key, () => readEnded(run, this.ports))).document
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

  /** What only some may do is not offered to the others. */
  #pathsOf(
    run: RunRecord,
    user: User,
    { related, refused }: { related: readonly RunRecord[]; refused: Refused | undefined }
  ): PagePaths {
    const path = pathOf(run, this.ports)
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
      visitor: visitorOf(user, this.ports.facts),
      actions: {
        comparePath: `${path}/compare`,
        choices: listChoices(run, related),
        ...(isAllowed && {
          pin: { path: `${path}/${run.isPinned ? 'unpin' : 'pin'}`, isPinned: run.isPinned ?? false }
        }),
        ...(isAllowed &&
          this.ports.facts.store.folder.hasUploads(run) && {
            repeat: { path: `${path}/repeat`, once: createId() }
          })
      },
      ...(isAllowed && { stopPath: `${path}/stop`, editor })
    }
  }
}

function visitorOf(user: User, { clock, store }: RunPagePorts['facts']): Visitor {
  const why = store.hold?.why
  const hold = why === undefined ? undefined : { words: capitalize(asSentence(describeHold(why))) }
  return {
    name: user.name,
    note: warnOfEnd(user, clock.now()),
    hold: hold && { ...hold, ...(user.role === 'admin' && { resumePath: '/queue/resume' }) },
    logoutPath: LOGOUT
  }
}
