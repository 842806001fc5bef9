import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanUpStep } from '../../../src/gate/cleanup/post-step.js'
import { runGate } from '../../../src/gate/run-gate.js'
import { openGate } from '../../../src/gate/open-gate.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../../src/gate/after-run.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { StepState } from '../../../src/gate/saved-state.js'
import { CancelledError } from '../../../src/gate/errors.js'
import { ServiceClient } from '../../../src/client/client.js'
import { readAddress } from '../../../src/client/http/address.js'
import type { Clock } from '../../../src/contract/clock.js'
import { confirmRuns } from '../../../src/gate/confirm-runs.js'
import { comparedRun } from '../../../src/gate/collect/compared-run.js'
import { findOut } from '../../../src/gate/follow-run.js'
import type { Findings } from '../../../src/gate/findings.js'
import type { Ports } from '../../../src/gate/ports.js'
import { PLAN_WITH_PORT, sideBySide } from '../gate/side-by-side.js'
import {
  LogBook,
  makePorts,
  makeSettings,
  makeSpecification,
  NOTHING_LEFT,
  TOKEN
} from '../gate/gate-ports.js'
import { ManualClock } from '../manual-clock.js'
import { Life } from './one-run-caller.js'
import { ModelNetwork } from './one-run-network.js'
import { ModelService } from './one-run-service.js'
import { Choice } from '../data/seeded-choice.js'
import { makeRandom } from '../data/seeded-random.js'

/** What the step runs: one run; base and head in two rounds on a grid that it creates; one run that two others confirm. */
export type Kind = 'one' | 'side-by-side' | 'confirm'
const ROUNDS = 2
const CONFIRM = 2
const MOST_RUNS: Readonly<Record<Kind, number>> = {
  one: 1,
  'side-by-side': 2 + 2 * ROUNDS,
  confirm: 1 + CONFIRM
}

const CONFIRMED = { source: { kind: 'off' }, confirm: CONFIRM } as const

const FLOWS = ['watch', 'watch', 'cancel', 'timeout', 'kill', 'kill', 'kill'] as const
type Flow = (typeof FLOWS)[number]

export interface ScenarioResult {
  readonly flow: Flow
  readonly verdict: string
  readonly problems: readonly string[]
  readonly log: string
}

/** One seed: main with its faults, to its end or to its death; post with what main has saved; and what must hold after that. */
export async function runScenario(seed: number, kind: Kind = 'one'): Promise<ScenarioResult> {
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-one-run-'))
  const { random } = Math
  // The jitter of pauses belongs to the scenario, which must be the same when it runs again.
  Math.random = makeRandom(seed)
  try {
    return await new Scenario(seed, folder, kind).run()
  } finally {
    Math.random = random
    await rm(folder, { recursive: true, force: true })
  }
}

class Scenario {
  readonly #choice: Choice
  readonly #clock = new ManualClock()
  readonly #flow: Flow
  readonly #isCalm: boolean
  readonly #service: ModelService
  readonly #network: ModelNetwork
  readonly #folder: string
  readonly #kind: Kind
  readonly #log = new LogBook()
  readonly #stopOnCancel: boolean
  #state: StepState | undefined
  /** Grids of which main has learnt. */
  readonly #knownGrids = new Set<string>()
  /** Main had another reason to stop the run than a cancelled job, and said so in its state. */
  #isStopping = false

  constructor(seed: number, folder: string, kind: Kind) {
    this.#folder = folder
    this.#kind = kind
    this.#choice = new Choice(seed)
    this.#flow = this.#choice.of(FLOWS)
    this.#isCalm = this.#choice.chance(0.1)
    this.#stopOnCancel = this.#choice.chance(0.85)
    this.#service = new ModelService(this.#choice, {
      now: () => this.#clock.now(),
      isCalm: this.#isCalm,
      isEndless: kind === 'one' && this.#flow !== 'watch'
    })
    const mostGood = kind === 'one' ? 0 : MOST_RUNS[kind]
    this.#network = new ModelNetwork(this.#service, this.#clock, this.#choice, this.#isCalm, mostGood)
  }

  async run(): Promise<ScenarioResult> {
    const verdict = await this.#main()
    const beganMs = this.#clock.elapsedMs
    await this.#post()
    const postMs = this.#clock.elapsedMs - beganMs
    // What is still under way takes effect.
    await this.#clock.advance(60_000)
    return {
      flow: this.#flow,
      verdict,
      problems: this.#check(verdict, postMs),
      log: [...this.#network.log, ...this.#log.lines].join('\n').replace(/loadgate-[0-9a-f-]{36}/g, 'MARKER')
    }
  }

  async #main(): Promise<string> {
    const life = new Life(this.#flow === 'kill' ? this.#choice.between(0, 30 * this.#scale) : Infinity)
    const cancellation = new AbortController()
    if (this.#flow === 'cancel') this.#cancelLater(cancellation)
    const ports = await makePorts({
      log: this.#log,
      clock: mortal(this.#clock, life),
      cancelled: cancellation.signal,
      scratchDir: this.#folder,
      openClient: (options) =>
        new ServiceClient({ ...options, dispatcher: this.#network.dispatcherFor(life) }),
      saveState: (state) => {
        if (!life.goesOn()) return
        this.#isStopping = this.#isStopping || (this.#state?.leaveIfKilled === true && !state.leaveIfKilled)
        this.#state = state
        for (const id of state.madeGrids) this.#knownGrids.add(id)
      }
    })
    const settings = await this.#settings()
    const gate =
      this.#kind === 'confirm'
        ? confirmInDoubt(ports, settings)
        : runGate(ports, settings).then(({ verdict }) => verdict)
    return this.#clock.run(Promise.race([gate, life.death]))
  }

  /** Several runs take longer: what happens to them happens at any time in all of them. */
  get #scale(): number {
    return MOST_RUNS[this.#kind]
  }

  #cancelLater(cancellation: AbortController): void {
    const afterMs = this.#choice.chance(0.3)
      ? this.#choice.between(0, 50)
      : this.#choice.between(0, 40_000 * this.#scale)
    void this.#clock.sleep(afterMs).then(() => cancellation.abort(new CancelledError('SIGINT')))
  }

  async #settings(): Promise<Settings> {
    const plan = join(this.#folder, 'plan.jmx')
    await writeFile(plan, PLAN_WITH_PORT)
    const isRepeat = this.#kind === 'one' && this.#choice.chance(0.2)
    return makeSettings({
      target: { kind: 'remote', address: readAddress('https://service.example'), token: TOKEN },
      baseline: this.#kind === 'side-by-side' ? sideBySide(ROUNDS) : { ...sideBySide(0), ...CONFIRMED },
      origin: isRepeat
        ? { kind: 'repeat', runId: this.#service.addRepeatable().id }
        : { kind: 'files', paths: [plan], grids: [makeSpecification()] },
      stopOnCancel: this.#stopOnCancel,
      thresholdLines: 'apdex >= 0.5',
      ...(this.#flow === 'timeout' && { timeoutMs: this.#choice.between(5, 60 * this.#scale) * 1000 })
    })
  }

  async #post(): Promise<void> {
    if (this.#state === undefined) return
    const life = new Life(Infinity)
    const cleaning = cleanUpStep(this.#state, {
      log: this.#log,
      clock: this.#clock,
      ...NOTHING_LEFT,
      openClient: (options) =>
        new ServiceClient({ ...options, dispatcher: this.#network.dispatcherFor(life) })
    })
    await this.#clock.run(cleaning)
  }

  #check(verdict: string, postMs: number): string[] {
    return this.#kind === 'one' ? this.#checkOne(verdict, postMs) : this.#checkSeveral(verdict, postMs)
  }

  #checkSeveral(verdict: string, postMs: number): string[] {
    const service = this.#service
    const running = service.ours.filter((run) => service.isRunning(run))
    const isLeft = !this.#stopOnCancel && ['killed', 'cancelled'].includes(verdict)
    const markers = new Set(service.ours.map(({ tags }) => tags))
    const grids = [...this.#knownGrids].filter((id) => service.grids.get(id) !== true)
    const isCalmWatch = this.#flow === 'watch' && this.#isCalm
    const problems: (string | false)[] = [
      this.#network.creations !== markers.size &&
        `${this.#network.creations} creations had an effect, with ${markers.size} markers`,
      markers.size > MOST_RUNS[this.#kind] && `${markers.size} runs were created`,
      running.length > 0 && !isLeft && `${running.map(({ id }) => id).join()} is still running`,
      new Set(running.map(({ tags }) => tags)).size > 1 && 'more than one run was left running',
      grids.length > 0 && !isLeft && `${grids.join()} is still running`,
      service.touched.length > 0 && `other people's runs were touched: ${service.touched.join()}`,
      postMs > 4 * 60_000 && `post took ${postMs} ms`,
      verdict === 'passed' &&
        this.#kind === 'side-by-side' &&
        markers.size < MOST_RUNS[this.#kind] &&
        `passed after ${markers.size} runs`,
      isCalmWatch && verdict !== 'passed' && `without faults the verdict is ${verdict}`,
      isCalmWatch && service.stops > 0 && 'without faults something was stopped'
    ]
    return problems.filter((problem) => problem !== false)
  }

  #checkOne(verdict: string, postMs: number): string[] {
    const service = this.#service
    const running = service.ours.filter((run) => service.isRunning(run))
    const isLeft = !this.#stopOnCancel && ['killed', 'cancelled'].includes(verdict)
    const passed = service.ours.find(({ stoppedMs }) => stoppedMs === undefined)
    const problems: (string | false)[] = [
      this.#network.creations > 1 && `${this.#network.creations} creations had an effect`,
      running.length > 0 && !isLeft && `${running.map(({ id }) => id).join()} is still running`,
      service.touched.length > 0 && `other people's runs were touched: ${service.touched.join()}`,
      isLeft &&
        !this.#isStopping &&
        service.ours.length === 1 &&
        service.stops > 0 &&
        'the run that was to be left was stopped',
      postMs > 4 * 60_000 && `post took ${postMs} ms`,
      verdict === 'passed' && passed === undefined && 'passed on a run that was stopped',
      this.#flow === 'watch' &&
        this.#network.creations === 1 &&
        !this.#network.hasLateCreation &&
        verdict !== 'passed' &&
        `a run was made, and the verdict is ${verdict}`,
      this.#flow === 'watch' &&
        this.#isCalm &&
        verdict !== 'passed' &&
        `without faults the verdict is ${verdict}`,
      this.#flow === 'watch' && this.#isCalm && service.stops > 0 && 'without faults something was stopped'
    ]
    return problems.filter((problem) => problem !== false)
  }
}

/** A gate whose comparison stays in doubt: the run, and all that may confirm it. */
async function confirmInDoubt(ports: Ports, settings: Settings): Promise<string> {
  const gate = await openGate(ports, settings)
  const first = await findOut(gate)
  const compared: Findings = {
    ...first,
    comparison: { kind: 'recorded', base: [], head: [comparedRun(first)] }
  }
  const { failure } = await confirmRuns(gate, compared, () => true)
  return failure?.kind ?? 'passed'
}

/** A clock whose sleepers never wake once the process is dead. */
function mortal(clock: ManualClock, life: Life): ManualClock {
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (life.goesOn()) await clock.sleep(ms, signal)
    if (!life.goesOn()) await new Promise(() => undefined)
  }
  return Object.assign(Object.create(clock) as ManualClock, { now: () => clock.now(), sleep })
}
