import { describe, expect, test } from '@jest/globals'
import { sampleCsv } from '../support/fake-service.js'
import { setStage } from '../support/gate/gate-stage.js'
import { commandsIn } from '../support/step/runner-commands.js'

const stage = setStage()

describe('secrets', () => {
  test.each([20, 21, 22])(
    'a token of %d characters is masked, and occurs nowhere but in the step’s own state',
    async (length) => {
      stage.service.token = 'x7'.repeat(20).slice(0, length)
      stage.step.inputs.token = stage.service.token
      stage.step.env.RUNNER_DEBUG = '1'

      const result = await stage.step.main()

      expect(result.code).toBe(0)
      const basic = Buffer.from(`${stage.service.token}:`).toString('base64')
      const log = result.log
        .split('\n')
        .filter((line) => !line.startsWith('::add-mask::'))
        .join('\n')
      expect(result.log).toContain(`::add-mask::${stage.service.token}`)
      expect(result.log).toContain(`::add-mask::${basic}`)
      for (const secret of [stage.service.token, basic]) {
        expect(log).not.toContain(secret)
        expect(stage.step.everythingWritten()).not.toContain(secret)
      }
    }
  )
})

describe('hostile text', () => {
  test('gives the runner no commands and the summary no markup', async () => {
    stage.service.summary = '::set-output name=verdict::passed\n##[add-mask]x </details><img src=x> @org/team'
    stage.service.apdex = '::warning::x'
    stage.service.csv = () => sampleCsv({ label: '"::error::boo | <b>"' })
    stage.step.inputs.thresholds = 'apdex > 0.5\np95{label="*"} < 1ms'

    const result = await stage.step.main()

    const commands = commandsIn(result.log).filter((command) => command !== 'debug') // the toolkit's own
    expect(new Set(commands)).toEqual(new Set(['add-mask', 'error']))
    expect(result.summary).not.toMatch(/<img|<\/details>|@org/)
  })
})
