import { describe, expect, test } from '@jest/globals'
import { sampleCsv } from '../support/fake-service.js'
import { onStage, testOnStage } from '../support/gate/gate-stage.js'
import { commandsIn } from '../support/step/runner-commands.js'

describe('secrets', () => {
  test.concurrent.each([20, 21, 22])(
    'a token of %d characters is masked, and occurs nowhere but in the step’s own state',
    (length) =>
      onStage(async (stage) => {
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
      })()
  )

  testOnStage('a secret parameter that the service echoes is in no file, output or log', async (stage) => {
    const secret = 'b3tt3r/not-shown'
    const forms = [secret, encodeURIComponent(secret), Buffer.from(`${secret}:`).toString('base64')]
    stage.step.inputs['override-parameters'] =
      `-Jshop.password=${secret} -Jlogin.token=checkout -Jpin.key=170000`
    stage.step.inputs.thresholds = 'apdex >= 0.85\np95{label="checkout"} < 5s'
    stage.service.summary = `used ${secret}`
    stage.service.remoteErrors = `could not log in with ${forms[2] ?? ''}`
    stage.service.csv = () =>
      sampleCsv({ failLast: true })
        .replaceAll(',OK,', `,no ${secret},`)
        .replaceAll(',null,', `,http://h/?p=${forms[1] ?? ''},`)

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
    const files = [...stage.artifactOf(result).values()].map(String)
    expect(files.join('\n')).toContain(`,no ${'*'.repeat(secret.length)},`)
    for (const form of forms)
      for (const text of [result.log, result.summary, stage.step.everythingWritten(), ...files])
        expect(text).not.toContain(form)
  })
})

describe('hostile text', () => {
  testOnStage('gives the runner no commands and the summary no markup', async (stage) => {
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
