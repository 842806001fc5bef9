import { describe, expect, test } from '@jest/globals'
import type { BaselineSettings } from '../../../src/gate/settings/baseline-settings.js'
import {
  LOCAL,
  REMOTE,
  makeSources,
  problemsOf,
  readGiven,
  type Given
} from '../../support/gate/settings-sources.js'
import { readSettings } from '../../../src/gate/settings/settings.js'

const SIDE_BY_SIDE: Given = {
  ...LOCAL,
  baseline: 'side-by-side',
  'baseline-parameters': '-Jport=8081',
  duration: '30s'
}
const LINE = 'p95 <= baseline + 10%'

async function readBaseline(given: Given): Promise<BaselineSettings> {
  return (await readGiven(given)).baseline
}

describe('inputs that are given', () => {
  test.each<[string, Given, Partial<BaselineSettings>]>([
    ['auto', { baseline: 'auto' }, { source: { kind: 'auto' } }],
    ['off', { baseline: 'off' }, { source: { kind: 'off' } }],
    [
      'a path that is not there yet',
      { baseline: '.loadgate/baseline.json.gz' },
      { source: { kind: 'file', path: '/workspace/.loadgate/baseline.json.gz' } }
    ],
    [
      'a plain word that is no keyword',
      { baseline: 'perf' },
      { source: { kind: 'file', path: '/workspace/perf' } }
    ],
    [
      'a file named like a keyword',
      { baseline: './automatic' },
      { source: { kind: 'file', path: '/workspace/./automatic' } }
    ],
    ['a branch', { 'baseline-branch': 'release/2.x' }, { branch: 'release/2.x' }],
    ['the noise', { noise: '7.5%' }, { noise: 0.075 }],
    ['the noise at its largest', { noise: '100 %' }, { noise: 1 }],
    [
      'parameters that do not count',
      { 'ignore-parameters': 'build, tenant\nx.y-z' },
      { ignoredParameters: ['build', 'tenant', 'x.y-z'] }
    ],
    ['what to do without a baseline', { 'on-missing-baseline': 'fail' }, { onMissing: 'fail' }],
    ['what to do when unsure', { 'on-unsure': 'pass' }, { onUnsure: 'pass' }],
    ['further runs', { confirm: '2' }, { confirm: 2 }]
  ])('%s', async (_, given, expected) => {
    expect(await readBaseline({ ...REMOTE, ...given })).toMatchObject(expected)
  })

  test('side by side', async () => {
    expect(await readGiven({ ...SIDE_BY_SIDE, confirm: '1', 'baseline-rounds': '4' })).toMatchObject({
      baseline: {
        source: { kind: 'side-by-side', parameters: '-Jport=8081', rounds: 4 },
        confirm: 1
      },
      durationSeconds: 30
    })
    expect((await readBaseline(SIDE_BY_SIDE)).source).toMatchObject({ rounds: 10 })
  })

  test('an early stop', async () => {
    const given = { ...REMOTE, 'stop-early': 'true', duration: '10m', thresholds: 'p95 < 1s' }
    expect(await readGiven(given)).toMatchObject({ stopEarly: true, unused: [] })
  })

  test('come from the config file too', async () => {
    const configText = `
baseline: side-by-side
baseline-parameters: -Jport=8081
baseline-rounds: 5
duration: 20s
on-missing-baseline: pass
on-unsure: fail
confirm: 1
thresholds:
  - p95 <= baseline + 5%
`
    expect(await readGiven({ ...LOCAL, config: 'c.yml' }, { configText })).toMatchObject({
      baseline: {
        source: { kind: 'side-by-side', parameters: '-Jport=8081', rounds: 5 },
        onMissing: 'pass',
        onUnsure: 'fail',
        confirm: 1
      },
      thresholds: [{ allowance: { ratio: 0.05 } }],
      unused: []
    })
    const others = 'baseline: off\nbaseline-branch: main\nnoise: 3%\nstop-early: true\nduration: 60\n'
    expect(await readGiven({ ...REMOTE, config: 'c.yml' }, { configText: others })).toMatchObject({
      baseline: { source: { kind: 'off' }, branch: 'main', noise: 0.03 },
      stopEarly: true
    })
  })
})

describe('a bad value', () => {
  const meant = (text: string, word: string): string =>
    `baseline: "${text}" is invalid; expected auto, off, side-by-side or the path of a baseline document: did you mean "${word}"? (For a file of that name, write ./${text})`

  test.each<[string, Given, string]>([
    ['a synonym of auto', { baseline: 'automatic' }, meant('automatic', 'auto')],
    ['auto in capitals', { baseline: 'Auto' }, meant('Auto', 'auto')],
    ['a boolean', { baseline: 'false' }, meant('false', 'off')],
    ['off misspelt', { baseline: 'of' }, meant('of', 'off')],
    ['side-by-side in one word', { baseline: 'sidebyside' }, meant('sidebyside', 'side-by-side')],
    ['side-by-side with another sign', { baseline: 'side_by_side' }, meant('side_by_side', 'side-by-side')],
    [
      'a branch as the baseline',
      { baseline: 'main' },
      'baseline: "main" is not a file; to compare with the runs of that branch, set baseline-branch: main and leave baseline at auto'
    ],
    [
      'an address',
      { baseline: 'https://x.example/b.gz' },
      'baseline: is an address; expected auto, off, side-by-side or the path of a document, which an earlier step can download'
    ],
    [
      'two lines',
      { baseline: 'a\nb' },
      'baseline: is more than one line; expected auto, off, side-by-side or one path'
    ],
    [
      'a ref as the branch',
      { 'baseline-branch': 'refs/heads/main' },
      'baseline-branch: "refs/heads/main" is invalid; expected the name of a branch such as main, without refs/heads/'
    ],
    [
      'a branch with a space',
      { 'baseline-branch': 'my branch' },
      'baseline-branch: "my branch" is invalid; expected the name of a branch such as main, without refs/heads/'
    ],
    [
      'too few rounds',
      { 'baseline-rounds': '2' },
      'baseline-rounds: "2" is invalid; expected a whole number from 3 to 100'
    ],
    [
      'too many rounds',
      { 'baseline-rounds': '101' },
      'baseline-rounds: "101" is invalid; expected a whole number from 3 to 100'
    ],
    [
      'a parameter instead of its name',
      { 'ignore-parameters': 'tenant, -Jbuild=s3cret' },
      'ignore-parameters: "-Jbuild=…" is invalid; expected the names of parameters, separated by commas or newlines: did you mean build?'
    ],
    [
      'noise without its unit',
      { noise: '5' },
      'noise: "5" is invalid; expected a percentage above 0% and at most 100%, such as 5%: did you mean 5%?'
    ],
    [
      'noise as a ratio',
      { noise: '0.075' },
      'noise: "0.075" is invalid; expected a percentage above 0% and at most 100%, such as 5%: did you mean 7.5%?'
    ],
    ...['0%', '0.0%', '100.1%', '-5%', 'low', '1e1%', '%'].map((noise): [string, Given, string] => [
      `noise of ${noise}`,
      { noise },
      `noise: "${noise}" is invalid; expected a percentage above 0% and at most 100%, such as 5%`
    ]),
    [
      'on-missing-baseline: skip',
      { 'on-missing-baseline': 'skip' },
      'on-missing-baseline: "skip" is invalid; expected one of warn, fail, pass'
    ],
    [
      'on-unsure: true',
      { 'on-unsure': 'true' },
      'on-unsure: "true" is invalid; expected one of warn, fail, pass'
    ],
    [
      'confirm: true',
      { confirm: 'true' },
      'confirm: "true" is invalid; expected a whole number from 0 to 10'
    ],
    ['confirm: 11', { confirm: '11' }, 'confirm: "11" is invalid; expected a whole number from 0 to 10'],
    [
      'stop-early: yes',
      { 'stop-early': 'yes' },
      'stop-early: "yes" is invalid; expected true or false: did you mean true?'
    ]
  ])('%s', async (_, given, problem) => {
    expect(await problemsOf({ ...REMOTE, ...given })).toEqual([problem])
  })

  test('a file of the name of a keyword is used', async () => {
    const resolveBaseline = (path: string) => Promise.resolve({ path: `/workspace/${path}`, exists: true })
    const { baseline } = await readGiven({ ...REMOTE, baseline: 'main' }, { resolveBaseline })
    expect(baseline.source).toEqual({ kind: 'file', path: '/workspace/main' })
  })

  test('what is wrong with a path is reported', async () => {
    const resolveBaseline = () => Promise.resolve({ problem: '"data" is a folder' })
    expect(await problemsOf({ ...REMOTE, baseline: 'data' }, { resolveBaseline })).toEqual([
      'baseline: "data" is a folder'
    ])
  })
})

describe('inputs that exclude each other', () => {
  const EXISTING: Given = { 'base-url': 'https://service.example', token: 'secret', 'run-id': 'r1' }
  const REPEAT: Given = { 'base-url': 'https://service.example', token: 'secret', repeat: 'r1' }
  const ALONGSIDE: Given = {
    baseline: 'side-by-side',
    'baseline-parameters': '-Jport=8081',
    duration: '30s'
  }

  test.each<[string, Given, string]>([
    [
      'side-by-side and run-id',
      { ...EXISTING, ...ALONGSIDE },
      'baseline: side-by-side cannot be combined with run-id, which judges an existing run and starts none; remove one of the two'
    ],
    [
      'side-by-side and repeat',
      { ...REPEAT, ...ALONGSIDE },
      'baseline: side-by-side cannot be combined with repeat, because its runs are created from files; remove one of the two'
    ],
    [
      'side-by-side and wait: false',
      { ...REMOTE, ...ALONGSIDE, wait: 'false' },
      'baseline: side-by-side cannot be combined with wait: false, because its runs follow one another within this step; remove one of the two'
    ],
    [
      'side-by-side and stop-early',
      { ...REMOTE, ...ALONGSIDE, 'stop-early': 'true' },
      'baseline: side-by-side cannot be combined with stop-early: true, because each of its runs must last as long as the others; remove one of the two'
    ],
    [
      'side-by-side without baseline-parameters',
      { ...SIDE_BY_SIDE, 'baseline-parameters': '' },
      'baseline-parameters: is empty, but baseline: side-by-side needs it; give the override-parameters that lead the plan to the server of the base, such as -Jport=8081'
    ],
    ...[' , ', ',,'].map((parameters): [string, Given, string] => [
      `side-by-side with nothing but separators (${parameters})`,
      { ...SIDE_BY_SIDE, 'baseline-parameters': parameters },
      'baseline-parameters: has no parameter, but baseline: side-by-side needs it; give the override-parameters that lead the plan to the server of the base, such as -Jport=8081'
    ]),
    ...['-Jport=8081', '-Jhost=b, -Jport=8081', ' -Jport=8081,'].map(
      (parameters): [string, Given, string] => [
        `side-by-side with what the head has already (${parameters})`,
        {
          ...SIDE_BY_SIDE,
          'override-parameters': '-Jport=1 -Jport=8081, -Jhost=b',
          'baseline-parameters': parameters
        },
        'baseline-parameters: changes nothing in override-parameters, so the runs of the base would be the same as those of the head; give the override-parameters that lead the plan to the server of the base, such as -Jport=8081'
      ]
    ),
    ...['port=8081', '-Jport', '-J port=8081', '-Xport=8081', '8081'].map(
      (parameters): [string, Given, string] => [
        `side-by-side with what is no parameter (${parameters})`,
        { ...SIDE_BY_SIDE, 'baseline-parameters': `${parameters}, -Jhost=b` },
        'baseline-parameters: entry 1 is not -Jname=value or -Dname=value; give the override-parameters that lead the plan to the server of the base, such as -Jport=8081'
      ]
    ),
    [
      'side-by-side without duration',
      { ...SIDE_BY_SIDE, duration: '' },
      'duration: is empty, but baseline: side-by-side needs it; give how long one of its runs lasts, such as 30s'
    ],
    [
      'side-by-side with a warm-up as long as a run',
      { ...SIDE_BY_SIDE, duration: '30s', 'warm-up': '30s' },
      'warm-up: 30 s leaves nothing of a run of baseline: side-by-side, which lasts 30 s (duration); make warm-up shorter, or duration longer'
    ],
    [
      'side-by-side beyond the timeout',
      { ...SIDE_BY_SIDE, duration: '10m' },
      'timeout: 2 h is too short for baseline: side-by-side, whose 2 × (10 rounds + 1 to warm up) × 10 min take 3 h 40 min; raise timeout, or lower baseline-rounds or duration'
    ],
    [
      'confirm with local',
      { ...LOCAL, confirm: '1', thresholds: LINE },
      'confirm: cannot be used with base-url: local, where further runs on the same machine would only confirm the machine; remove it, or set baseline: side-by-side'
    ],
    [
      'confirm with run-id',
      { ...EXISTING, confirm: '1' },
      'confirm: cannot be combined with run-id, which judges an existing run and starts none; remove one of the two'
    ],
    [
      'confirm with wait: false',
      { ...REMOTE, confirm: '1', wait: 'false' },
      'confirm: cannot be combined with wait: false, which leaves nothing to confirm; remove one of the two'
    ],
    [
      'stop-early without duration',
      { ...REMOTE, 'stop-early': 'true' },
      'stop-early: needs duration, without which nobody knows how much of the run is left; set duration, or remove stop-early'
    ],
    [
      'stop-early with run-id',
      { ...EXISTING, 'stop-early': 'true', duration: '10m' },
      'stop-early: cannot be combined with run-id: a run that this step did not start is never stopped; remove one of the two'
    ],
    [
      'stop-early with repeat',
      { ...REPEAT, 'stop-early': 'true' },
      'stop-early: cannot be combined with repeat, which keeps the duration of the earlier run; remove one of the two'
    ],
    [
      'a line that names baseline, and off',
      { ...REMOTE, baseline: 'off', thresholds: `p95 < 1s\n${LINE}` },
      `baseline: off leaves nothing to compare with, but thresholds has lines that name baseline (line 2: ${LINE}); set baseline: auto, or remove these lines`
    ],
    [
      'several such lines, and off',
      { ...REMOTE, baseline: 'off', thresholds: `${LINE}\nwarn: mean <= baseline` },
      `baseline: off leaves nothing to compare with, but thresholds has lines that name baseline (line 1: ${LINE} and 1 more); set baseline: auto, or remove these lines`
    ],
    [
      'side-by-side on grids that end before its last run',
      { ...REMOTE, ...ALONGSIDE, duration: '3m' },
      'grids: element 1: stop_after of 60 min is shorter than the 3960 s of all runs of baseline: side-by-side, which share the grid'
    ],
    [
      'side-by-side on grids that end before its confirming runs',
      { ...REMOTE, ...ALONGSIDE, duration: '2m', confirm: '1' },
      'grids: element 1: stop_after of 60 min is shorter than the 5040 s of all runs of baseline: side-by-side, which share the grid'
    ],
    [
      'side-by-side on grids that end before the timeout, which ends its confirming runs',
      { ...REMOTE, ...ALONGSIDE, duration: '2m', confirm: '3' },
      'grids: element 1: stop_after of 60 min is shorter than the 7200 s of all runs of baseline: side-by-side, which share the grid'
    ]
  ])('%s', async (_, given, problem) => {
    expect(await problemsOf(given)).toEqual([problem])
  })

  test('all of it is reported at once', async () => {
    const given = { ...EXISTING, ...ALONGSIDE, duration: '', confirm: '1', 'stop-early': 'true' }
    expect(await problemsOf(given)).toHaveLength(5)
  })

  test.each<[string, Given]>([
    ['side-by-side that fits exactly', { ...SIDE_BY_SIDE, duration: '60s', timeout: '22m' }],
    ['confirm with local, side by side', { ...SIDE_BY_SIDE, confirm: '1' }],
    ['confirm of a repeated run', { ...REPEAT, confirm: '1' }],
    ['confirm: 0 with local', { ...LOCAL, confirm: '0' }],
    ['stop-early: false with run-id', { ...EXISTING, 'stop-early': 'false' }],
    ['off without such lines', { ...REMOTE, baseline: 'off', thresholds: 'p95 < 1s' }],
    ['a line that names baseline, with run-id', { ...EXISTING, thresholds: LINE }]
  ])('%s is accepted', async (_, given) => {
    expect(await readGiven(given)).toHaveProperty('baseline')
  })

  test('without a token, what a variable would have given is not missed', async () => {
    const given: Given = { 'on-missing-token': 'skip', baseline: 'side-by-side', 'stop-early': 'false' }
    expect(await readSettings(makeSources(given))).toHaveProperty('skip')
  })
})

describe('inputs without an effect are named', () => {
  test.each<[string, Given, string[]]>([
    [
      'what side by side alone needs',
      { ...REMOTE, thresholds: LINE, 'baseline-parameters': '-Jx=1', 'baseline-rounds': '5' },
      ['baseline-parameters', 'baseline-rounds']
    ],
    [
      'what recorded runs alone need',
      { ...SIDE_BY_SIDE, thresholds: LINE, 'baseline-branch': 'main', noise: '3%' },
      ['baseline-branch', 'noise']
    ],
    [
      'all of it with wait: false',
      { ...REMOTE, wait: 'false', baseline: 'auto', noise: '3%', 'on-unsure': 'fail' },
      ['baseline', 'noise', 'on-unsure']
    ],
    ['what off ignores', { ...REMOTE, baseline: 'off', noise: '3%', confirm: '1' }, ['noise', 'confirm']],
    ['what only judges lines, without any', { ...REMOTE, 'on-unsure': 'fail' }, ['on-unsure']]
  ])('%s', async (_, given, unused) => {
    expect((await readGiven(given)).unused).toEqual(unused)
  })
})
