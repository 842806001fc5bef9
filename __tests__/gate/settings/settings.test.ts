import { describe, expect, test } from '@jest/globals'
import { INPUT_NAMES, type InputName } from '../../../src/contract/inputs.js'
import { defaultName, readSettings, type Settings, type Skip } from '../../../src/gate/settings/settings.js'
import { SettingsError } from '../../../src/gate/errors.js'
import {
  LOCAL,
  REMOTE,
  SPECIFICATION,
  makeSources,
  problemsOf,
  readGiven,
  type Given
} from '../../support/gate/settings-sources.js'

describe('the defaults', () => {
  test('of a run at a service', async () => {
    expect(await readGiven(REMOTE)).toEqual({
      target: {
        kind: 'remote',
        address: { api: 'https://service.example', origin: 'https://service.example' },
        token: 'secret'
      },
      serviceName: undefined,
      origin: {
        kind: 'files',
        paths: ['/workspace/plan.jmx'],
        grids: [
          {
            region: 'us-east-1',
            nodeCount: 2,
            instanceType: 'm4.large',
            infrastructure: 'demand',
            stopAfterMinutes: 60,
            options: {}
          }
        ]
      },
      tool: 'jmeter',
      name: 'octo/shop main 0123456',
      notes: undefined,
      project: undefined,
      tags: [],
      privacy: 'private',
      threads: undefined,
      rampupSeconds: undefined,
      durationSeconds: undefined,
      overrideHosts: undefined,
      overrideParameters: undefined,
      parameterVariables: [],
      thresholds: [],
      baseline: {
        source: { kind: 'auto' },
        branch: undefined,
        noise: 0.05,
        ignoredParameters: [],
        onMissing: 'warn',
        onUnsure: 'warn',
        confirm: 0
      },
      stopEarly: false,
      apdexTargetMs: 500,
      toolExitCode: undefined,
      warmUpMs: 0,
      onStall: 'fail',
      waitFor: undefined,
      wait: true,
      timeoutMs: 7_200_000,
      pollIntervalMs: 15_000,
      stopOnCancel: true,
      failOn: 'breach',
      artifactName: undefined,
      retentionDays: undefined,
      comment: 'auto',
      githubToken: '',
      matrix: '',
      unused: []
    })
  })

  test.each([
    ['2h', 120],
    ['90s', 2],
    ['1s', 1],
    ['60h', 2880]
  ])('of the grids of local, with a timeout of %s', async (timeout, stopAfterMinutes) => {
    const { target, origin } = await readGiven({ ...LOCAL, timeout })
    expect(target).toEqual({ kind: 'local' })
    expect(origin).toMatchObject({
      grids: [{ region: 'local', infrastructure: 'demand', nodeCount: 1, stopAfterMinutes, options: {} }]
    })
  })

  test('fill up a grid of local', async () => {
    const { origin } = await readGiven({ ...LOCAL, grids: '- instance_quantity: 3\n- {region: far}' })
    expect(origin).toMatchObject({
      grids: [
        { region: 'local', nodeCount: 3 },
        { region: 'far', nodeCount: 1 }
      ]
    })
  })

  test('of the name: repository, ref and short commit', () => {
    const occasion = { repository: 'octo/shop', ref: 'main', commit: '0123456789', url: undefined }
    expect(defaultName(occasion)).toBe('octo/shop main 0123456')
    expect(defaultName({ ...occasion, repository: '', ref: '', commit: '' })).toBe('loadgate')
  })
})

describe('an input that is given', () => {
  test.each<[InputName, string, Partial<Settings>]>([
    ['tool', 'gatling', { tool: 'gatling' }],
    ['tool', 'java-selenium-chrome', { tool: 'java-selenium-chrome' }],
    ['tool', 'java-selenium-firefox', { tool: 'java-selenium-firefox' }],
    ['tool', 'service-chrome', { tool: 'service-chrome' }],
    ['name', 'nightly', { name: 'nightly' }],
    ['notes', 'of the night', { notes: 'of the night' }],
    ['project', 'shop', { project: 'shop' }],
    ['tags', 'a, b\nc,,d', { tags: ['a', 'b', 'c', 'd'] }],
    ['privacy', 'public', { privacy: 'public' }],
    ['threads', '50', { threads: 50 }],
    ['rampup', '0', { rampupSeconds: 0 }],
    ['rampup', '1m30s', { rampupSeconds: 90 }],
    ['duration', '10m', { durationSeconds: 600 }],
    ['override-hosts', 'a.example/10.0.0.1', { overrideHosts: 'a.example/10.0.0.1' }],
    ['override-parameters', '-Jx=1', { overrideParameters: '-Jx=1' }],
    ['wait', 'false', { wait: false }],
    ['timeout', '1h30m', { timeoutMs: 5_400_000 }],
    ['poll-interval', '1s', { pollIntervalMs: 1000 }],
    ['stop-on-cancel', 'False', { stopOnCancel: false }],
    ['fail-on', 'never', { failOn: 'never' }],
    ['artifact-name', 'load results', { artifactName: 'load results' }],
    ['retention-days', '7', { retentionDays: 7 }],
    ['comment', 'off', { comment: 'off' }],
    ['github-token', 'gh', { githubToken: 'gh' }],
    ['matrix', '{"os":"linux"}', { matrix: '{"os":"linux"}' }],
    ['service-name', 'acme', { serviceName: 'acme' }],
    ['run-id', '00123', { origin: { kind: 'existing', runId: '00123' } }],
    ['repeat', '123e45', { origin: { kind: 'repeat', runId: '123e45' } }]
  ])('%s: %s', async (name, value, expected) => {
    const given: Given = name === 'run-id' || name === 'repeat' ? { ...REMOTE, files: '' } : REMOTE
    expect(await readGiven({ ...given, [name]: value })).toMatchObject(expected)
  })

  test('thresholds are parsed', async () => {
    const { thresholds } = await readGiven({ ...REMOTE, thresholds: 'apdex >= 0.85\nwarn: p95 < 1s # so' })
    expect(thresholds.map(({ text, level }) => [text, level])).toEqual([
      ['apdex >= 0.85', 'fail'],
      ['p95 < 1s', 'warn']
    ])
  })

  test('files are trimmed, empty lines dropped, and handed on in their order', async () => {
    const { origin } = await readGiven({ ...REMOTE, files: ' plan.jmx \r\n\n  b.csv\n!c.csv' })
    expect(origin).toMatchObject({
      paths: ['/workspace/plan.jmx', '/workspace/b.csv', '/workspace/!c.csv']
    })
  })

  test.each([
    ['https://service.example/api', 'https://service.example/api'],
    ['https://service.example/', 'https://service.example'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080']
  ])('base-url %s is used as %s', async (url, api) => {
    expect(await readGiven({ ...REMOTE, 'base-url': url })).toMatchObject({ target: { address: { api } } })
  })
})

describe('grids of a service leave out what it may have defaults for', () => {
  const chosen = {
    infrastructure: 'demand',
    nodeCount: 1,
    stopAfterMinutes: 30,
    region: '',
    instanceType: ''
  }
  const all = ['infrastructure', 'region', 'instance_quantity', 'instance_type', 'stop_after']
  test.each<[string, string, object]>([
    ['none', '', { ...chosen, leftOut: all }],
    ['a region', '- region: eu', { ...chosen, region: 'eu', leftOut: all.filter((key) => key !== 'region') }],
    [
      'all but the region',
      '- { infrastructure: hosted, instance_quantity: 3, instance_type: big, stop_after: 9 }',
      {
        ...{ infrastructure: 'hosted', nodeCount: 3, instanceType: 'big', stopAfterMinutes: 9, region: '' },
        leftOut: ['region']
      }
    ]
  ])('%s', async (_, grids, specification) => {
    const { origin } = await readGiven({ ...REMOTE, grids, timeout: '30m' })
    expect(origin).toMatchObject({ grids: [{ ...specification, options: {} }] })
  })

  test('a complete one has left out nothing', async () => {
    const { origin } = await readGiven({ ...REMOTE, grids: SPECIFICATION })
    expect(origin).toMatchObject({ kind: 'files' })
    expect(JSON.stringify(origin)).not.toContain('leftOut')
  })
})

describe('a bad input names itself, what was given and what is accepted', () => {
  test.each<[string, Given, string]>([
    [
      'an unknown tool',
      { ...REMOTE, tool: 'locust' },
      'tool: "locust" is invalid; expected one of jmeter, gatling, java-selenium-chrome, java-selenium-firefox, service-chrome, k6'
    ],
    [
      'threads of -1',
      { ...REMOTE, threads: '-1' },
      'threads: "-1" is invalid; expected a whole number, at least 1'
    ],
    [
      'threads of ten',
      { ...REMOTE, threads: 'ten' },
      'threads: "ten" is invalid; expected a whole number, at least 1'
    ],
    [
      'a ramp-up in words',
      { ...REMOTE, rampup: 'slow' },
      'rampup: "slow" is invalid; expected a duration of at least 0 s, in whole seconds or as 90s, 5m, 2h, 1h30m'
    ],
    [
      'a duration of 0',
      { ...REMOTE, duration: '0' },
      'duration: "0" is invalid; expected a duration of at least 1 s, in whole seconds or as 90s, 5m, 2h, 1h30m'
    ],
    [
      'a timeout of 0',
      { ...REMOTE, timeout: '0s' },
      'timeout: "0s" is invalid; expected a duration of at least 1 s, in whole seconds or as 90s, 5m, 2h, 1h30m'
    ],
    [
      'a poll-interval in ms',
      { ...REMOTE, 'poll-interval': '500ms' },
      'poll-interval: "500ms" is invalid; expected a duration of at least 1 s, in whole seconds or as 90s, 5m, 2h, 1h30m'
    ],
    [
      'a privacy of its own',
      { ...REMOTE, privacy: 'secret' },
      'privacy: "secret" is invalid; expected one of public, private'
    ],
    [
      'wait: yes',
      { ...REMOTE, wait: 'yes' },
      'wait: "yes" is invalid; expected true or false: did you mean true?'
    ],
    [
      'stop-on-cancel: 1',
      { ...REMOTE, 'stop-on-cancel': '1' },
      'stop-on-cancel: "1" is invalid; expected true or false: did you mean true?'
    ],
    [
      'fail-on: warn',
      { ...REMOTE, 'fail-on': 'warn' },
      'fail-on: "warn" is invalid; expected one of breach, never'
    ],
    [
      'on-missing-token: pass',
      { ...REMOTE, 'on-missing-token': 'pass' },
      'on-missing-token: "pass" is invalid; expected one of fail, skip'
    ],
    ['comment: on', { ...REMOTE, comment: 'on' }, 'comment: "on" is invalid; expected one of auto, off'],
    [
      'retention-days of 0',
      { ...REMOTE, 'retention-days': '0' },
      'retention-days: "0" is invalid; expected a whole number from 1 to 400'
    ],
    [
      'an artifact name that is refused later',
      { ...REMOTE, 'artifact-name': 'a/b' },
      'artifact-name: "a/b" is invalid; expected at most 200 characters without " : < > | * ? \\ / or line breaks'
    ],
    [
      'a service name of capitals',
      { ...REMOTE, 'service-name': 'Acme!' },
      'service-name: "Acme!" is invalid; expected a word of lowercase letters, digits, - and _'
    ],
    [
      'a base-url with a password and a token in it',
      { ...REMOTE, 'base-url': 'https://me:hunter2@service.example/?token=hunter2' },
      'base-url: "https://***@service.example/?***" must not contain a user name or password; pass the token as `token`'
    ],
    [
      'an empty base-url',
      { ...REMOTE, 'base-url': '' },
      'base-url: is empty; give the address of the service (https://…), or local to run on this runner'
    ],
    [
      'plain http',
      { ...REMOTE, 'base-url': 'http://service.example' },
      'base-url: "http://service.example" must start with https:// (plain http would send the token in the clear; only loopback may use it)'
    ],
    [
      'no address at all',
      { ...REMOTE, 'base-url': 'service' },
      'base-url: this text is not a URL; use one such as https://service.example, or local'
    ],
    [
      'a token where the address belongs',
      { ...REMOTE, 'wait-for': 'lg_0123456789abcdef 5m' },
      'wait-for: "*** 5m" is invalid; expected an http or https address without a password, and optionally how long to wait for it: `http://localhost:8080/health 5m`'
    ],
    [
      'another protocol',
      { ...REMOTE, 'base-url': 'ftp://service.example' },
      'base-url: "ftp://service.example" must start with https://'
    ],
    [
      'an empty token',
      { ...REMOTE, token: '' },
      'token: is empty; set it to the API token, from a secret. Pull requests from forks get no secrets: set on-missing-token: skip to skip the gate there'
    ],
    [
      'a token with local',
      { ...LOCAL, token: 'secret' },
      'token: base-url: local takes no token; remove one of the two'
    ],
    [
      'run-id with local',
      { 'base-url': 'local', 'run-id': 'r1' },
      'run-id: cannot be used with base-url: local, whose runs end with the step'
    ],
    [
      'repeat with local',
      { 'base-url': 'local', repeat: 'r1' },
      'repeat: cannot be used with base-url: local, whose runs end with the step'
    ],
    [
      'wait: false with local',
      { ...LOCAL, wait: 'false' },
      'wait: cannot be false with base-url: local, whose service ends with the step'
    ],
    [
      'both run-id and files',
      { ...REMOTE, 'run-id': 'r1' },
      'files: cannot be combined with run-id, which uses an existing run; remove one of the two'
    ],
    [
      'both repeat and files',
      { ...REMOTE, repeat: 'r1' },
      'files: cannot be combined with repeat, which uses an existing run; remove one of the two'
    ],
    [
      'both run-id and repeat',
      { ...REMOTE, files: '', 'run-id': 'r1', repeat: 'r2' },
      'repeat: cannot be combined with run-id; set only one of the two'
    ],
    [
      'run-id that is not waited for',
      { ...REMOTE, files: '', 'run-id': 'r1', wait: 'false' },
      'wait: cannot be false with run-id, which waits for a run and judges it'
    ],
    [
      'a run-id that would leave its path',
      { ...REMOTE, files: '', 'run-id': '../../x' },
      'run-id: "../../x" is invalid; expected a run\'s id: letters, digits, - and _'
    ],
    [
      'a repeat of two lines',
      { ...REMOTE, files: '', repeat: 'a\nb<<EOF' },
      'repeat: "a\nb<<EOF" is invalid; expected a run\'s id: letters, digits, - and _'
    ],
    [
      'no files',
      { ...REMOTE, files: '' },
      'files: is empty; give the path of the plan, then its data files, one per line'
    ],
    [
      'an exclusion first',
      { ...REMOTE, files: '!a\nb' },
      'files: the first line must be the plan, found "!a"'
    ]
  ])('%s', async (_, given, problem) => {
    expect(await problemsOf(given)).toEqual([problem])
  })

  test.each([
    ['a threshold that does not parse', 'apdex over 0.85', /^thresholds: .*over/s],
    [
      'thresholds that are all commented out',
      '# p95 < 1s\n\n  # apdex > 0',
      /^thresholds: contains only comments; add/
    ],
    ['a threshold without its unit', 'error_rate < 1', /^thresholds: .*1%/s]
  ])('%s', async (_, thresholds, problem) => {
    const problems = await problemsOf({ ...REMOTE, thresholds })
    expect(problems).toEqual([expect.stringMatching(problem)])
  })

  test('grids say which element', async () => {
    const problems = await problemsOf({ ...REMOTE, grids: '- uuid: ok\n- {regoin: r}' })
    expect(problems).toEqual([expect.stringMatching(/^grids: element 2: .*regoin/)])
  })

  test('a stop_after shorter than the duration', async () => {
    expect(await problemsOf({ ...REMOTE, duration: '61m' })).toEqual([
      'grids: element 1: stop_after of 60 min is shorter than the duration of 3660 s: the grid would end before the run'
    ])
  })

  test('the files as they were resolved', async () => {
    const resolveFiles = () => Promise.resolve({ paths: [], problems: ['"*.jmx" matches no file', 'two'] })
    expect(await problemsOf(REMOTE, { resolveFiles })).toEqual([
      'files: "*.jmx" matches no file',
      'files: two'
    ])
  })

  test('local on Windows, where a service can still be used', async () => {
    expect(await problemsOf(LOCAL, { platform: 'win32' })).toEqual([
      'base-url: local needs Linux or macOS; on Windows give the address of a service'
    ])
    await readGiven(REMOTE, { platform: 'win32' })
    await readGiven(LOCAL, { platform: 'darwin' })
  })

  test.each(['a b', 'a\tb', 'a:b'])('a token that no header can carry is not quoted: %p', async (token) => {
    const problems = await problemsOf({ ...REMOTE, token })
    expect(problems).toEqual(['token: must not contain whitespace or a colon'])
  })
})

describe('all problems are told at once', () => {
  const given: Given = {
    'base-url': 'http://service.example',
    tool: 'locust',
    threads: '-1',
    wait: 'maybe',
    thresholds: 'apdex',
    grids: '- {stop_after: 0}'
  }

  test('each with the name of its input', async () => {
    const problems = await problemsOf(given)
    const names = problems.map((problem) => problem.split(':')[0])
    expect([...new Set(names)].sort()).toEqual(
      ['base-url', 'files', 'grids', 'thresholds', 'token', 'tool', 'threads', 'wait'].sort()
    )
  })

  test('in one message, one a line', async () => {
    const problems = await problemsOf(given)
    const { message } = new SettingsError(problems)
    expect(message.split('\n')[0]).toBe(`${problems.length} invalid inputs, nothing was sent:`)
    for (const problem of problems) expect(message).toContain(`\n- ${problem}`)
  })

  test('a single one stands in the first line', () => {
    expect(new SettingsError(['tool: bad']).message).toBe('Invalid input, nothing was sent: tool: bad')
  })

  test('an unparsed value never becomes a default', async () => {
    for (const name of INPUT_NAMES.filter((input) =>
      [
        ...['timeout', 'poll-interval', 'wait', 'fail-on', 'baseline-branch', 'baseline-rounds', 'noise'],
        ...['on-missing-baseline', 'on-unsure', 'confirm', 'stop-early', 'on-stall']
      ].includes(input)
    ))
      expect(await problemsOf({ ...REMOTE, [name]: '?' })).toHaveLength(1)
  })
})

describe('a missing token', () => {
  test('is skipped over when the workflow says so, with an empty address too', async () => {
    for (const url of ['https://service.example', '']) {
      const skipped = await readSettings(
        makeSources({ ...REMOTE, 'base-url': url, token: '', 'on-missing-token': 'skip' })
      )
      expect((skipped as Skip).skip).toContain('no token was given')
    }
  })

  test('an input that comes from a variable is as empty there as the token', async () => {
    const given: Given = { 'on-missing-token': 'skip', 'base-url': '', token: '', files: '', grids: '' }
    expect(await readSettings(makeSources(given))).toHaveProperty('skip')
  })

  test('other problems are told even then', async () => {
    const given: Given = { ...REMOTE, token: '', 'on-missing-token': 'skip', threads: '-1' }
    expect(await problemsOf(given)).toHaveLength(1)
  })

  test('a token that is there is used', async () => {
    const settings = await readGiven({ ...REMOTE, 'on-missing-token': 'skip' })
    expect(settings.target).toMatchObject({ token: 'secret' })
  })

  test('an empty address with a token is an error all the same', async () => {
    const given: Given = { ...REMOTE, 'base-url': '', 'on-missing-token': 'skip' }
    expect(await problemsOf(given)).toEqual([expect.stringMatching(/^base-url: is empty/)])
  })

  test('local needs none and is not skipped', async () => {
    expect(await readGiven({ ...LOCAL, 'on-missing-token': 'skip' })).toMatchObject({
      target: { kind: 'local' }
    })
  })
})

describe('an empty base-url on the command line', () => {
  test('means local', async () => {
    expect(await readGiven({ files: 'plan.jmx' }, { environment: { baseUrl: '' } })).toMatchObject({
      target: { kind: 'local' }
    })
  })

  test('a config file still wins', async () => {
    const settings = await readGiven(
      { config: 'c.yml', files: 'plan.jmx', token: 'secret', grids: SPECIFICATION },
      { environment: { baseUrl: '' }, configText: 'base-url: https://service.example' }
    )
    expect(settings.target).toMatchObject({ kind: 'remote' })
  })

  test('with a token is an error: it would run on this machine instead of the service', async () => {
    expect(
      await problemsOf({ files: 'plan.jmx', token: 'secret' }, { environment: { baseUrl: '' } })
    ).toEqual([
      'token: LOADGATE_TOKEN is set, but no service is given; set LOADGATE_BASE_URL or base-url to the address of the service, or base-url to local to run on this machine without it'
    ])
  })
})

describe('LOADGATE_BASE_URL', () => {
  const environment = { baseUrl: 'https://service.example' }
  const ELSEWHERE = 'https://elsewhere.example'
  const rest: Given = { files: 'plan.jmx', token: 'secret', grids: SPECIFICATION }
  const originOf = ({ target }: Settings): string =>
    target.kind === 'remote' ? target.address.origin : target.kind

  test.each([
    ['is used where nothing else is given', {}, undefined, 'https://service.example'],
    ['yields to a flag', { 'base-url': ELSEWHERE }, undefined, ELSEWHERE],
    ['yields to the config file', { config: 'c.yml' }, `base-url: ${ELSEWHERE}`, ELSEWHERE],
    ['yields to local in a flag, which needs no token', { 'base-url': 'local' }, undefined, 'local'],
    ['yields to local in the config file', { config: 'c.yml' }, 'base-url: local', 'local']
  ])('%s', async (_, given: Given, configText, expected) => {
    const changes = { environment, ...(configText !== undefined && { configText }) }
    expect(originOf(await readGiven({ ...rest, ...given }, changes))).toBe(expected)
  })

  test('may be local, and then needs no token either', async () => {
    expect(originOf(await readGiven(rest, { environment: { baseUrl: 'local' } }))).toBe('local')
  })

  test('needs a token, and names the variable', async () => {
    expect(await problemsOf({ ...rest, token: '' }, { environment })).toEqual([
      "token: LOADGATE_TOKEN is not set; set it to the service's API token, or LOADGATE_ID_TOKEN_FILE to a file with an ID token"
    ])
  })

  test('is named where it is wrong, without its secrets', async () => {
    const baseUrl = 'https://me:hush@service.example'
    const [problem] = await problemsOf(rest, { environment: { baseUrl } })
    expect(problem).toMatch(/^LOADGATE_BASE_URL: "https:\/\/\*\*\*@service.example" /)
  })

  test('counts for regions too', async () => {
    const [problem] = await problemsOf({ ...rest, regions: 'eu: { processes: {} }' }, { environment })
    expect(problem).toMatch(/^regions: is for base-url: local only/)
  })

  test('is nothing to the action', async () => {
    expect(await problemsOf(rest)).toEqual([
      'base-url: is empty; give the address of the service (https://…), or local to run on this runner'
    ])
  })
})

describe('the config file', () => {
  const given: Given = { config: 'gate.yml', token: 'secret' }

  test('gives what the workflow does not', async () => {
    const settings = await readGiven(given, {
      configText: `
base-url: https://service.example
files: [plan.jmx, data/users.csv]
thresholds:
  - apdex >= 0.85
  - error_rate < 1%
tags: [a, b]
threads: 010
wait: false
grids:
  - uuid: 00123
  - 123e45
`
    })
    expect(settings).toMatchObject({
      origin: {
        paths: ['/workspace/plan.jmx', '/workspace/data/users.csv'],
        grids: [{ id: '00123' }, { id: '123e45' }]
      },
      tags: ['a', 'b'],
      threads: 10,
      wait: false
    })
    expect(settings.thresholds).toHaveLength(2)
  })

  test('a run id that looks like a number stays what it was', async () => {
    const configText = 'base-url: https://service.example\nrun-id: 00123'
    expect(await readGiven(given, { configText })).toMatchObject({ origin: { runId: '00123' } })
    const power = 'base-url: https://service.example\nrepeat: 123e45'
    expect(await readGiven(given, { configText: power })).toMatchObject({ origin: { runId: '123e45' } })
  })

  test('is overruled by an input, grids too', async () => {
    const settings = await readGiven(
      { ...REMOTE, config: 'gate.yml', threads: '5', tags: 'x' },
      { configText: 'threads: 7\ntags: [y]\ngrids: [other]\nbase-url: https://elsewhere.example' }
    )
    expect(settings).toMatchObject({
      threads: 5,
      tags: ['x'],
      target: { address: { origin: 'https://service.example' } },
      origin: { grids: [{ region: 'us-east-1' }] }
    })
  })

  test('its own problems stand beside the others, with its path', async () => {
    const problems = await problemsOf(
      { ...REMOTE, config: 'gate.yml', threads: '-1' },
      { configText: 'token: x\ncolour: red\nproject: [a]' }
    )
    expect(problems).toEqual([
      'config: gate.yml: token cannot be set in a file; set it in the workflow, from a secret, or set LOADGATE_TOKEN on the command line',
      'config: gate.yml: unknown key colour; keys must be names of inputs',
      'config: gate.yml: project must be a plain value',
      'threads: "-1" is invalid; expected a whole number, at least 1'
    ])
  })

  test('that cannot be read is a problem like any other', async () => {
    expect(await problemsOf({ ...REMOTE, config: 'gone.yml', tool: 'x' })).toEqual([
      `config: "gone.yml" cannot be read: ENOENT: no such file, open 'gone.yml'`,
      expect.stringMatching(/^tool:/)
    ])
  })
})

describe('inputs without an effect here are named', () => {
  test('for an existing run', async () => {
    const given: Given = {
      ...REMOTE,
      files: '',
      'run-id': 'r1',
      threads: '5',
      name: 'n',
      thresholds: 'apdex > 0'
    }
    expect((await readGiven(given)).unused).toEqual(['grids', 'name', 'threads'])
  })

  test('for a run that is not waited for', async () => {
    const given: Given = {
      ...REMOTE,
      wait: 'false',
      thresholds: 'apdex > 0',
      'poll-interval': '5s',
      'stop-on-cancel': 'true',
      'fail-on': 'never',
      comment: 'off',
      threads: '5'
    }
    expect((await readGiven(given)).unused).toEqual([
      'thresholds',
      'poll-interval',
      'stop-on-cancel',
      'fail-on',
      'comment'
    ])
  })

  test('grids of a config file count, defaults do not', async () => {
    const given: Given = { ...REMOTE, files: '', grids: '', 'run-id': 'r1', config: 'c.yml' }
    expect((await readGiven(given, { configText: 'grids: [a]' })).unused).toEqual(['grids'])
  })
})
