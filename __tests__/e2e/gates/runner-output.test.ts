import { describe, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CSV_HEADER } from '../../support/fake-service.js'
import { onStage, testOnStage } from '../../support/gate/gate-stage.js'
import type { Stage } from '../../support/gate/gate-stage.js'
import { readCommands } from '../../support/step/raw-runner.js'
import { commandsIn } from '../../support/step/runner-commands.js'
import { runCommand } from '../cli-command.js'
import type { Ended } from '../cli-command.js'

/** The commands that a step may give: its own masks and annotations, and debug lines. */
const OWN = ['add-mask', 'debug', 'error', 'notice', 'warning']

function foreignCommands(log: string): string[] {
  const names = [...commandsIn(log), ...readCommands(log).map(({ name }) => name)]
  return names.filter((name) => !OWN.includes(name))
}

/** Code that runs within the process as soon as the gate listens for signals, as a fault in a library would. */
function injectFault({ step }: Stage, code: string): Record<string, string> {
  const file = join(step.temp, 'fault.cjs')
  writeFileSync(
    file,
    `const timer = setInterval(() => {
       if (process.listenerCount('SIGINT') === 0) return
       clearInterval(timer)
       ${code}
     }, 1)`
  )
  return { NODE_OPTIONS: `--require "${file}"` }
}

const HOSTILE = '\\n::stop-commands::x\\n  ::set-output name=verdict::passed\\n##[add-path]y'

describe('hostile YAML reaches the log as an input problem, and the runner not at all', () => {
  const HOSTILE_YAML = [
    ['a tag', '- !::stop-commands::x a'],
    ['a tag on a line of its own', '-\n  !<::stop-commands::x>\n  a'],
    ['a directive', '%::stop-commands::x\n---\n- a'],
    ['a version', '%YAML 9.9 ::stop-commands::x\n---\n- a'],
    ['a key', '- ? [::stop-commands::x]\n  : "##[stop-commands]x"']
  ]

  test.concurrent.each(HOSTILE_YAML)('in grids: %s', (_name, text) =>
    onStage(async (stage) => {
      stage.step.inputs.grids = text
      const { code, log } = await stage.step.main()
      expect(code).toBe(1)
      expect(foreignCommands(log)).toEqual([])
      expect(log).toMatch(/^::error::.*[Ii]nvalid inputs?, nothing was sent:.* grids: /m)
      expect(log).not.toMatch(/Warning:|^\(node/m)
      expect(stage.service.seen).toEqual([])
    })()
  )

  test.concurrent.each(HOSTILE_YAML)('in the config file: %s', (_name, text) =>
    onStage(async (stage) => {
      stage.step.write('gate.yml', text)
      stage.step.inputs.config = 'gate.yml'
      const { code, log } = await stage.step.main()
      expect(code).toBe(1)
      expect(foreignCommands(log)).toEqual([])
      expect(log).toContain('config: gate.yml ')
      expect(log).not.toMatch(/Warning:|^\(node/m)
      expect(stage.service.seen).toEqual([])
    })()
  )

  testOnStage('also where the library is told to print its tokens', async (stage) => {
    stage.step.inputs.grids = '- |\n  ::stop-commands::x\n  ##[stop-commands]x\n- [::stop-commands::x]'
    Object.assign(stage.step.env, { LOG_STREAM: '1', LOG_TOKENS: '1' })
    const { code, log } = await stage.step.main()
    expect(code).toBe(1)
    expect(log).toContain('stop-commands')
    expect(foreignCommands(log)).toEqual([])
  })

  test.concurrent.each(HOSTILE_YAML)('on the command line: %s', (_name, text) =>
    onStage(async (stage) => {
      const { code, out, err } = await runCommand(
        ['run', '--base-url', stage.service.url, '--files', 'plan.jmx', '--grids', text],
        { cwd: stage.step.workspace, env: { LOADGATE_TOKEN: 'x', LOG_STREAM: '1', LOG_TOKENS: '1' } }
      )
      expect([code, out]).toEqual([2, ''])
      expect(err).toMatch(/^loadgate: .*[Ii]nvalid inputs?, nothing was sent:\s.*grids: /)
      expect(foreignCommands(err)).toEqual([])
    })()
  )
})

describe('what libraries and Node print goes through the log', () => {
  testOnStage('an artifact service that fails in hostile words', async (stage) => {
    stage.artifacts.failWith = 503
    stage.artifacts.failText = JSON.stringify({ msg: 'no\n::stop-commands::x\n##[add-path]y' })
    stage.artifacts.failures = 1
    const { code, log } = await stage.step.main()
    expect(code).toBe(0)
    expect(log).toMatch(/Attempt 1 of 5 failed with error/)
    expect(log).toContain('stop-commands')
    expect(foreignCommands(log)).toEqual([])
  })

  test.concurrent.each([
    ['a warning', `process.emitWarning('odd${HOSTILE}')`],
    ['a deprecation', `process.emitWarning('odd${HOSTILE}', 'DeprecationWarning', 'DEP9999')`],
    ['too many listeners', `for (let i = 0; i < 20; i++) process.on('odd${HOSTILE}', () => {})`],
    ['a line on standard output', `console.log('odd${HOSTILE}')`],
    ['a line on standard error', `console.error('odd${HOSTILE}')`],
    ['bytes', `process.stderr.write(Buffer.from('odd${HOSTILE}'))`]
  ])('%s', (_name, code) =>
    onStage(async (stage) => {
      Object.assign(stage.step.env, injectFault(stage, code))
      const { code: exit, log, outputs } = await stage.step.main()
      expect([exit, outputs.verdict]).toEqual([0, 'passed'])
      expect(log).toContain('odd')
      expect(foreignCommands(log)).toEqual([])
      expect(log).not.toMatch(/^\(node|^\(Use `node/m)
    })()
  )
})

describe('the command line in a step of a workflow', () => {
  const LABELS = ['::stop-commands::x', '##[add-path]y', ' ::set-output name=a::b']
  const csv = `${CSV_HEADER}\n${LABELS.map((label, i) => sampleRow(label, i)).join('\n')}\n`

  function sampleRow(label: string, index: number): string {
    const startMs = 1_700_000_000_000 + index * 1000
    return `${startMs},100,"${label}",200,OK,t 1-1,text,true,,10,10,1,1,null,1,0,0`
  }

  const report = (stage: Stage, ...flags: string[]): Promise<Ended> => {
    stage.step.write('load.csv', csv)
    const env = { GITHUB_ACTIONS: 'true' }
    return runCommand(['report', 'load.csv', ...flags], { cwd: stage.step.workspace, env })
  }

  testOnStage('foreign text gives no commands', async (stage) => {
    const { code, out, err } = await report(stage)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('stop-commands')
    expect(out).toContain('add-path')
    expect(foreignCommands(out)).toEqual([])
  })

  testOnStage('nor in JSON, which stays what it was', async (stage) => {
    const { out } = await report(stage, '--json')
    expect(foreignCommands(out)).toEqual([])
    const { metrics } = JSON.parse(out) as { metrics: { labels: { label: string }[] } }
    expect(metrics.labels.map(({ label }) => label.trim()).sort()).toEqual(
      LABELS.map((label) => label.trim()).sort()
    )
  })

  testOnStage('nor does a message about what was typed', async (stage) => {
    const env = { GITHUB_ACTIONS: 'true' }
    const typed = ['run', '--files', 'x', '--tool', '\n::stop-commands::x', '--base-url', 'http://x']
    const { code, err } = await runCommand(typed, { cwd: stage.step.workspace, env })
    expect(code).toBe(2)
    expect(err).toContain('stop-commands')
    expect(foreignCommands(err)).toEqual([])
  })
})

describe('an error that nothing waits for fails the step, through the log', () => {
  test.concurrent.each([
    ['thrown', `throw new Error('odd${HOSTILE}')`],
    ['rejected', `Promise.reject(new Error('odd${HOSTILE}'))`],
    ['no error at all', `throw 'odd${HOSTILE}'`],
    ['rejected with text', `Promise.reject('odd${HOSTILE}')`]
  ])('%s', (_name, code) =>
    onStage(async (stage) => {
      stage.service.statuses = ['running']
      Object.assign(stage.step.env, injectFault(stage, code))
      const { code: exit, log, outputs } = await stage.step.main()
      expect([exit, outputs.verdict]).toEqual([1, 'error'])
      expect(log).toContain('::error::Load gate error: odd')
      expect(foreignCommands(log)).toEqual([])
      expect(log).not.toMatch(/^\s+at |^Node\.js v/m)
    })()
  )

  testOnStage('something that has no text', async (stage) => {
    Object.assign(stage.step.env, injectFault(stage, 'throw Object.create(null)'))
    const { code, log } = await stage.step.main()
    expect(code).toBe(1)
    expect(log).toContain('::error::Load gate error: an error without a message was thrown')
  })

  testOnStage('on the command line, which ends its tools and exits with 2', async (stage) => {
    const fault = injectFault(stage, `setTimeout(() => { throw new Error('odd \\u001b[31m') }, 1500)`)
    const { code, err } = await runCommand(
      [
        ...['run', '--rehearse', '--files', 'plan.jmx', '--duration', '60s', '--output', 'out'],
        ...['--override-parameters', '-Jrehearsal.realtime=true']
      ],
      { cwd: stage.step.workspace, env: fault }
    )
    expect(code).toBe(2)
    expect(err).toMatch(/^loadgate: odd {2}\[31m$/m)
    expect(err).not.toMatch(/^\s+at /m)
  })
})
