import type { Browser } from '../api/browser.js'
import { forScript } from '../api/for-script.js'
import { findRecovery, RecoverWith } from '../api/declare.js'
import type { Condition, Hook, Plan, Row, Step } from '../api/plan.js'
import { readStepSettings } from '../api/settings.js'
import type { StepPorts } from './attempt.js'
import { runAside, runStep, type StepOutcome } from './step-run.js'

/** What comes after a step: the next one, the same again, the first one, or nothing in this loop. */
type Next = 'next' | 'again' | 'first' | 'end'

/** One pass of a user through the steps of the script. */
export class LoopRun {
  /** How often each step was recovered from since it last passed. */
  readonly #recovered = new Map<Step, number>()

  /** The browser as the script gets it. */
  readonly #scripted: Browser

  constructor(
    private readonly plan: Plan,
    private readonly given: { readonly browser: Browser; readonly data: Row; readonly isFirst: boolean },
    private readonly ports: StepPorts
  ) {
    this.#scripted = forScript(given.browser)
  }

  async run(): Promise<void> {
    if (!(await this.#runHooks('beforeAll'))) return
    await this.#runSteps()
    if (!this.ports.schedule.isStopped) await this.#runHooks('afterAll')
    // An error page that came after the last step would otherwise never be seen.
    if (!this.ports.schedule.isStopped && this.given.browser.navigations.hasBadPage)
      await this.#aside('after the last step', () => undefined)
  }

  async #runSteps(): Promise<void> {
    const { steps } = this.plan
    let at = 0
    for (let step = steps[at]; step !== undefined && !this.ports.schedule.isOver; step = steps[at]) {
      const next = await this.#runRepeatedly(step)
      if (next === 'end') return
      at = next === 'first' ? 0 : at + 1
    }
  }

  /** Runs a step as often as it is declared to. */
  async #runRepeatedly(step: Step): Promise<Next> {
    if (step.isSkipped === true || (step.isOnce === true && !this.given.isFirst)) return 'next'
    if (step.predicate !== undefined) {
      const isWanted = await this.#ask(step, step.predicate)
      if (isWanted !== true) return isWanted === false ? 'next' : 'end'
    }
    const times = step.repeat ?? (step.loop === undefined ? 1 : Infinity)
    for (let done = 0; done < times && !this.ports.schedule.isOver;) {
      const isWanted = step.loop === undefined ? true : await this.#ask(step, step.loop)
      if (isWanted !== true) return isWanted === false ? 'next' : 'end'
      const next = await this.#runOnce(step)
      if (next === 'first' || next === 'end') return next
      if (next === 'next') done++
    }
    return 'next'
  }

  async #runOnce(step: Step): Promise<Next> {
    if (!(await this.#runHooks('beforeEach'))) return 'end'
    const outcome = await runStep(step, { ...this.given, scripted: this.#scripted }, this.ports)
    if (outcome === 'cut' || !(await this.#runHooks('afterEach'))) return 'end'
    const next = await this.#decide(step, outcome)
    const { stepDelayMs } = readStepSettings(step.options, this.given.browser.settings)
    await this.ports.schedule.rest(stepDelayMs)
    return next
  }

  async #decide(step: Step, outcome: StepOutcome): Promise<Next> {
    if (outcome === 'passed') {
      this.#recovered.delete(step)
      return 'next'
    }
    const recovery = findRecovery(this.plan, step)
    const times = this.#recovered.get(step) ?? 0
    if (recovery === undefined || times >= recovery.tries || this.ports.schedule.isOver) return 'end'
    this.#recovered.set(step, times + 1)
    const { data } = this.given
    const how = await this.#aside(`${step.name} (recovery)`, () => recovery.run(this.#scripted, data))
    if (how === undefined) return 'end'
    if (how.value === RecoverWith.CONTINUE) return 'next'
    return how.value === RecoverWith.RESTART ? 'first' : 'again'
  }

  /** The answer of a condition; undefined if it failed. */
  async #ask(step: Step, condition: Condition): Promise<boolean | undefined> {
    const answer = await this.#aside(step.name, () => condition(this.#scripted))
    return answer && Boolean(answer.value)
  }

  /** Whether all of them worked. */
  async #runHooks(hook: Hook): Promise<boolean> {
    const { browser, data } = this.given
    for (const { run, waitTimeout } of this.plan.hooks[hook]) {
      browser.stepSettings = readStepSettings({ waitTimeout }, browser.settings)
      const done = await this.#aside(hook, () => run(this.#scripted, data))
      browser.stepSettings = browser.settings
      if (done === undefined) return false
    }
    return true
  }

  #aside(label: string, act: () => unknown): Promise<{ value: unknown } | undefined> {
    return runAside(label, act, { browser: this.given.browser, ports: this.ports })
  }
}
