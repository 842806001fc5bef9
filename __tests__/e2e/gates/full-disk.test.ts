import { describe, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { setStage } from '../../support/gate/gate-stage.js'
import { commandsIn } from '../../support/step/runner-commands.js'

const stage = setStage()

/** Every write to it fails with ENOSPC. */
const FULL = '/dev/full'
const isThere = existsSync(FULL)
const testFull = isThere ? test : test.skip
const note = isThere ? '' : ` (skipped: there is no ${FULL})`
const FAILING = 'apdex >= 0.99'

const errorsIn = (log: string): string[] => log.split('\n').filter((line) => line.startsWith('::error::'))

describe(`the runner's files on a full disk${note}`, () => {
  testFull('a state that cannot be saved: nothing is created, and the step fails', async () => {
    stage.step.env.GITHUB_STATE = FULL
    const result = await stage.step.main()
    expect([result.code, result.outputs.verdict]).toEqual([1, 'error'])
    expect(result.log).toMatch(/::error::Load gate error: The state of the step could not be saved: ENOSPC/)
    expect(stage.service.calls('POST', /./)).toEqual([])
    expect(stage.service.runs.size).toBe(0)
  })

  test('a state whose place is a folder is the same', async () => {
    stage.step.env.GITHUB_STATE = stage.step.temp
    const result = await stage.step.main()
    expect(result.code).toBe(1)
    expect(result.log).toMatch(/::error::Load gate error: The state of the step could not be saved: EISDIR/)
    expect(stage.service.runs.size).toBe(0)
  })

  testFull.each([
    ['passed', 'apdex >= 0.5', /^Load gate passed/m],
    ['failed', FAILING, /^::error::Load gate failed: /m]
  ])(
    'outputs that cannot be written: the step fails, its verdict %s is told',
    async (_, thresholds, words) => {
      stage.step.inputs.thresholds = thresholds
      stage.step.env.GITHUB_OUTPUT = FULL
      const { code, log, summary } = await stage.step.main()
      expect(code).toBe(1)
      expect(errorsIn(log)).toContainEqual(
        expect.stringMatching(/Could not write the output run-id and those after it: ENOSPC/)
      )
      expect(errorsIn(log).filter((line) => /could not (be written|write)/i.test(line))).toHaveLength(1)
      expect(log).toMatch(words)
      expect(log).not.toMatch(/^\s+at /m)
      expect(summary).toContain('Load gate: ')
      expect(stage.service.runList.map(({ statuses }) => statuses[0])).toEqual(['finished'])
    }
  )

  testFull('outputs that cannot be written after wrong inputs: one more error, no stack', async () => {
    Object.assign(stage.step.env, { GITHUB_OUTPUT: FULL, GITHUB_STEP_SUMMARY: FULL })
    stage.step.inputs.thresholds = 'apdex'
    const { code, log } = await stage.step.main()
    expect(code).toBe(1)
    expect(errorsIn(log)).toHaveLength(2)
    expect(log).not.toMatch(/^\s+at /m)
  })

  testFull.each([
    ['passed', 'apdex >= 0.5', 0],
    ['failed', FAILING, 1]
  ])('a summary that cannot be written costs no verdict: %s', async (verdict, thresholds, code) => {
    stage.step.inputs.thresholds = thresholds
    stage.step.env.GITHUB_STEP_SUMMARY = FULL
    const result = await stage.step.main()
    expect([result.code, result.outputs.verdict]).toEqual([code, verdict])
    expect(commandsIn(result.log)).toContain('warning')
    expect(result.log).toContain('The job summary could not be written: ENOSPC')
  })
})
