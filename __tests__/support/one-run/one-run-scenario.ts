import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanUpStep } from '../../../src/gate/cleanup/post-step.js'
import { runGate } from '../../../src/gate/run-gate.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../../src/gate/after-run.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { StepState } from '../../../src/gate/step-state.js'
import { CancelledError } from '../../../src/gate/errors.js'
import { ServiceClient } from '../../../src/service/client.js'
import type { Clock } from '../../../src/service/clock.js'
import { LogBook, makePorts, makeSettings, makeSpecification } from '../gate/gate-ports.js'
import { ManualClock } from '../manual-clock.js'
import { Life } from './one-run-caller.js'
import { ModelNetwork } from './one-run-network.js'
import { ModelService } from './one-run-service.js'
import { Choice } from '../data/seeded-choice.js'
import { makeRandom } from '../data/seeded-random.js'

const FLOWS = ['watch', 'watch', 'cancel', 'timeout', 'kill', 'kill', 'kill'] as const
type Flow = (typeof FLOWS)[number]

export interface ScenarioResult {
  readonly flow: Flow
  readonly verdict: string
  readonly problems: readonly string[]
  readonly log: string
}

/** One seed: main with its faults, to its end or to its death; post with what main has saved; and what must hold after that. */
export async function runScenario(seed: number): Promise<ScenarioResult> {
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-one-run-'))
  const { random } = Math
  // The jitter of pauses belongs to the scenario, which must be the same when it runs again.
  Math.random = makeRandom(seed)
  try {
    return await new Scenario(seed, folder).run()
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
  readonly #log = new LogBook()
  readonly #stopOnCancel: boolean
  #state: StepState | undefined
  /** Main had another reason to stop the run than a cancelled job, and said so in its state. */
  #isStopping = false

  constructor(seed: number, folder: string) {
    this.#folder = folder
    this.#choice = new Choice(seed)
    this.#flow = this.#choice.of(FLOWS)
    this.#isCalm = this.#choice.chance(0.1)
    this.#stopOnCancel = this.#choice.chance(0.85)
    this.#service = new ModelService(this.#choice, {
      now: () => this.#clock.now(),
      isCalm: this.#isCalm,
      isEndless: this.#flow !== 'watch'
    })
    this.#network = new ModelNetwork(this.#service, this.#clock, this.#choice, this.#isCalm)
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
    const life = new Life(this.#flow === 'kill' ? this.#choice.between(0, 30) : Infinity)
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
      }
    })
    const gate = runGate(ports, await this.#settings()).then(({ verdict }) => verdict)
    return this.#clock.run(Promise.race([gate, life.death]))
  }

  #cancelLater(cancellation: AbortController): void {
    const afterMs = this.#choice.chance(0.3) ? this.#choice.between(0, 50) : this.#choice.between(0, 40_000)
    void this.#clock.sleep(afterMs).then(() => cancellation.abort(new CancelledError('SIGINT')))
  }

  async #settings(): Promise<Settings> {
    const plan = join(this.#folder, 'plan.jmx')
    await writeFile(plan, '<jmeterTestPlan/>')
    const isRepeat = this.#choice.chance(0.2)
    return makeSettings({
      origin: isRepeat
        ? { kind: 'repeat', runId: this.#service.addRepeatable().id }
        : { kind: 'files', paths: [plan], grids: [makeSpecification()] },
      stopOnCancel: this.#stopOnCancel,
      thresholdLines: 'apdex >= 0.5',
      ...(this.#flow === 'timeout' && { timeoutMs: this.#choice.between(5, 60) * 1000 })
    })
  }

  async #post(): Promise<void> {
    if (this.#state === undefined) return
    const life = new Life(Infinity)
    const cleaning = cleanUpStep(this.#state, {
      log: this.#log,
      clock: this.#clock,
      endProcessGroup: () => Promise.resolve(false),
      openClient: (options) =>
        new ServiceClient({ ...options, dispatcher: this.#network.dispatcherFor(life) })
    })
    await this.#clock.run(cleaning)
  }

  #check(verdict: string, postMs: number): string[] {
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

/** A clock whose sleepers never wake once the process is dead. */
function mortal(clock: ManualClock, life: Life): ManualClock {
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (life.goesOn()) await clock.sleep(ms, signal)
    if (!life.goesOn()) await new Promise(() => undefined)
  }
  return Object.assign(Object.create(clock) as ManualClock, { now: () => clock.now(), sleep })
}
