import { describe, expect, test } from '@jest/globals'
import { INPUT_GROUPS, INPUT_NAMES } from '../../src/contract/inputs.js'
import { UsageError } from '../../src/cli/arguments.js'
import { COMMANDS, runCommandLine } from '../../src/cli/commands.js'
import { makeCommandPorts } from './command-ports.js'

async function type(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const ports = makeCommandPorts()
  const code = await runCommandLine(args, ports)
  return { code, out: ports.screen.out.text, err: ports.screen.err.text }
}

test('every operation of the API has its command, and the gate and the service theirs', () => {
  expect(COMMANDS.map(({ name }) => name).sort()).toEqual(
    [
      ...['account', 'demo', 'grid create', 'grid show', 'grid terminate', 'repeat', 'report', 'results'],
      ...[
        'run',
        'runs',
        'serve',
        'stop',
        'baseline record',
        'baseline show',
        'trend',
        'calibrate',
        'init',
        'check',
        'prune',
        'pin',
        'unpin',
        'queue',
        'queue hold',
        'queue resume'
      ],
      ...['user add', 'user list', 'user rotate', 'user remove']
    ].sort()
  )
})

describe('help', () => {
  test.each([[['--help']], [['-h']], [['help']], [['grid', '--help']]])('%j: all commands', async (args) => {
    const { code, out } = await type(...args)
    expect(code).toBe(0)
    for (const { name, about } of COMMANDS) {
      expect(out).toContain(`  ${name} `)
      expect(out).toContain(about)
    }
    expect(out).toContain(
      'Exit codes: 0 passed, 1 failed, 2 inconclusive, timed out or an error, 130 cancelled.'
    )
  })

  test.each(COMMANDS)('on $name: every flag, and nothing is done', async ({ name, about, flags }) => {
    const asked = await type(...name.split(' '), '--help')
    expect(asked).toEqual(await type('help', ...name.split(' ')))
    expect(asked.code).toBe(0)
    expect(asked.out).toContain(`loadgate ${name}`)
    expect(asked.out).toContain(about)
    for (const flag of flags) {
      expect(asked.out).toContain(`  --${flag.name} `)
      expect(asked.out.replace(/\s+/g, ' ')).toContain(flag.about)
    }
  })

  test('on run: what each input means, with its default, under the headings of the inputs', async () => {
    const lines = (await type('run', '--help')).out.split('\n')
    expect(lines.filter((line) => /^[A-Z]/.test(line))).toEqual([...INPUT_GROUPS])
    expect(lines.find((line) => line.includes('--stop-on-cancel'))).toMatch(
      /Stop the run .* Default: `true`\.$/
    )
    expect(lines.every((line) => line.length <= 100)).toBe(true)
  })

  test.each(COMMANDS.flatMap(({ name, flags }) => flags.map((flag) => [name, flag.name, flag.about])))(
    'on %s --%s speaks of nothing that only a workflow has',
    (command, _, about) => {
      const words =
        /\b(runners?|workflows?|workspace|(this|the) (step|job)|pull requests?|inputs?|secrets?)\b/i
      // What it writes is for a workflow.
      const told = about.replace('`-Jname=secret:value`', '')
      expect(command === 'init' ? '' : told).not.toMatch(words)
    }
  )

  test('a report of CSVs is offered no line that names a baseline, which it refuses', async () => {
    const { out } = await type('report', '--help')
    expect(out).toContain('`apdex >= 0.85`')
    expect(out).not.toContain('baseline')
  })

  test('every command that a script would ask takes --json', () => {
    const without = COMMANDS.filter(({ flags }) => !flags.some(({ name }) => name === 'json'))
    expect(without.map(({ name }) => name)).toEqual(['demo'])
  })

  test('the flags of the gate are the inputs, except those that need a workflow or contain a token', () => {
    const names = COMMANDS.find(({ name }) => name === 'run')!.flags.map(({ name }) => name)
    expect(INPUT_NAMES.filter((name) => !names.includes(name))).toEqual([
      ...[
        'token',
        'oidc-audience',
        'baseline-branch',
        'artifact-name',
        'retention-days',
        'comment',
        'github-token',
        'matrix'
      ]
    ])
    expect(names.filter((name) => !(INPUT_NAMES as readonly string[]).includes(name))).toEqual([
      ...['rehearse', 'output', 'junit', 'summary', 'json']
    ])
  })
})

test("no arguments at all is an error: a script's variable may be empty", async () => {
  const { code, out, err } = await type()
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^loadgate: a performance gate\n[^]*\nloadgate: no command given\.\n$/)
})

test('the version', async () => {
  expect(await type('--version')).toEqual({ code: 0, out: '1.2.3\n', err: '' })
})

describe('mistakes', () => {
  test.each([
    { args: ['frob'], words: 'unknown command "frob"; `loadgate --help` lists them' },
    { args: ['rnu'], words: 'unknown command "rnu"; did you mean run? `loadgate --help` lists them' },
    { args: ['grid-create'], words: 'unknown command "grid-create"; did you mean grid create?' },
    {
      args: ['run', '--baseUrl', 'local'],
      words: 'there is no flag --baseUrl here; did you mean --base-url?'
    },
    {
      args: ['grid'],
      words: '"grid" is not a command by itself; there are grid create, grid show, grid terminate'
    },
    { args: ['grid', 'frob'], words: 'there are grid create, grid show, grid terminate' },
    {
      args: ['run', 'plan.jmx'],
      words: '"plan.jmx" is not an id: letters, digits, - and _ are accepted; pass a plan with --files'
    },
    { args: ['stop', '../x'], words: '"../x" is not an id' },
    { args: ['stop'], words: '`loadgate stop` takes one id, found 0' },
    { args: ['report', 'a', 'b'], words: '`loadgate report` takes one id, found 2' },
    { args: ['report', 'reslts'], words: 'there is no file or folder "reslts"; if it is the id of a run,' },
    { args: ['runs', 'a'], words: '`loadgate runs` takes flags only, found "a"' },
    { args: ['serve', '8080'], words: '`loadgate serve` takes flags only, found "8080"' },
    { args: ['runs', '--slow'], words: 'there is no flag --slow here' },
    { args: ['frob', '--help'], words: 'unknown command "frob"' },
    { args: ['help', 'frob'], words: 'unknown command "frob"' },
    { args: ['--version', 'run'], words: 'unknown command "--version"' },
    { args: ['grid', '--frob', '--help'], words: 'there are grid create, grid show, grid terminate' },
    { args: ['run', '--', '-h'], words: '"-h" is not an id' },
    { args: ['runs', '--', '--help'], words: '`loadgate runs` takes flags only, found "--help"' },
    {
      args: ['run', 'abc', '--thresholds', 'p95 < 1s'],
      words:
        '--thresholds does not apply to `loadgate run <id>`; `loadgate run --run-id <id> --thresholds …` judges a run'
    },
    { args: ['run', 'abc', '--run-id', 'abc'], words: '--run-id does not apply to `loadgate run <id>`' },
    {
      args: ['report', 'abc', '--thresholds', 'p95 < 1s', '--output', 'x'],
      words:
        '--thresholds, --output do not apply to `loadgate report <id>`; `loadgate run --run-id <id> --thresholds …` judges'
    },
    {
      args: ['report', 'a.csv', '--base-url', 'http://127.0.0.1:1'],
      words: '--base-url does not apply to `loadgate report <folder | CSV…>`; it reads local files'
    },
    { args: ['account', '--token=x'], words: 'set LOADGATE_TOKEN' }
  ])('$args', async ({ args, words }) => {
    const typed = type(...args)
    await expect(typed).rejects.toThrow(words)
    await expect(typed).rejects.toBeInstanceOf(UsageError)
  })
})
