import { describe, expect, test } from '@jest/globals'
import { readYaml } from '../../../src/contract/yaml-text.js'
import { parseRegions } from '../../../src/contract/regions/parse-regions.js'
import { makePlace } from '../../support/kubernetes/make-place.js'

const parse = (text: string): ReturnType<typeof parseRegions> => parseRegions(readYaml(text).value)

const DEFAULTS = makePlace()

describe('places', () => {
  test('every key of a cluster', () => {
    const { regions, problems } = parse(`
eu-central-1:
  kubernetes:
    context: load-eu
    namespace: load
    image: registry.example:5000/loadgate-node:1.2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    service-account: loadgate-node
    node-selector: { pool: load, node.example/size: "4" }
    tolerations:
      - { key: dedicated, operator: Equal, value: load, effect: NoSchedule }
      - { operator: Exists, effect: NoExecute, tolerationSeconds: 60 }
    image-pull-secrets: [ registry, { name: other } ]
    image-pull-policy: IfNotPresent
    host-network: true
    instance-types: { m5.xlarge: { cpu: "4", memory: 8Gi }, small: { cpu: 100m, memory: 256M } }
    start-timeout: 1h30m
here: { processes: {} }
`)
    expect(problems).toEqual([])
    expect([...regions]).toEqual([
      [
        'eu-central-1',
        {
          kind: 'kubernetes',
          context: 'load-eu',
          namespace: 'load',
          image:
            'registry.example:5000/loadgate-node:1.2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
          serviceAccount: 'loadgate-node',
          nodeSelector: { pool: 'load', 'node.example/size': '4' },
          tolerations: [
            { key: 'dedicated', operator: 'Equal', value: 'load', effect: 'NoSchedule' },
            { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }
          ],
          imagePullSecrets: ['registry', 'other'],
          imagePullPolicy: 'IfNotPresent',
          hostNetwork: true,
          instanceTypes: new Map([
            ['m5.xlarge', { cpu: '4', memory: '8Gi' }],
            ['small', { cpu: '100m', memory: '256M' }]
          ]),
          startTimeoutMs: 5_400_000
        }
      ],
      ['here', { kind: 'processes' }]
    ])
  })

  test('the defaults of a cluster', () => {
    expect(parse('eu: { kubernetes: {} }')).toEqual({ regions: new Map([['eu', DEFAULTS]]), problems: [] })
  })
})

describe('problems', () => {
  const cluster = (text: string): readonly string[] => parse(`eu: { kubernetes: { ${text} } }`).problems

  test('all of them at once, each with its place', () => {
    const { problems } = parse(`
eu: { kubernetes: { names: load, host-network: maybe, start-timeout: soon } }
us: { kubernetes: {}, processes: {} }
here: { process: {} }
`)
    expect(problems).toEqual([
      'eu: kubernetes: unknown key names; known keys are context, namespace, image, service-account, node-selector, tolerations, image-pull-secrets, image-pull-policy, host-network, instance-types, start-timeout',
      'eu: kubernetes: host-network: this text is invalid; expected true or false',
      'eu: kubernetes: start-timeout: this text is invalid; expected a duration of at least 1 s, in whole seconds or as 90s, 5m, 2h, 1h30m',
      'us: is both kubernetes and processes; remove one of the two',
      'here: unknown key process (did you mean processes?); known keys are kubernetes, processes',
      'here: must be `kubernetes: { … }`, or `processes: {}` for processes on the machine of the service'
    ])
  })

  test.each(['', '{}', '[]', 'eu', '- eu'])('no map: %j', (text) => {
    expect(parse(text).problems).toEqual([
      'must be a map from the names of regions to places, for example `eu-central-1: { kubernetes: { namespace: load } }`'
    ])
  })

  test.each([
    ['eu:', 'eu: must be a map, found nothing'],
    ['eu: kubernetes', 'eu: must be a map, found text'],
    ['eu: { kubernetes: }', 'eu: kubernetes: must be a map, found nothing'],
    ['eu: { processes: { cpu: 4 } }', 'eu: processes: unknown key cpu; it takes none'],
    ['"": { processes: {} }', 'a region has an empty name']
  ])('%s', (text, problem) => {
    expect(parse(text).problems).toContain(problem)
  })

  test.each([
    ['context: ', 'context: must be text, found nothing'],
    ['context: [a]', 'context: must be text, found a list'],
    [
      'namespace: Load',
      'namespace: this text is not the name of a namespace: at most 63 lowercase letters, digits and -'
    ],
    [
      'namespace: a.b',
      'namespace: this text is not the name of a namespace: at most 63 lowercase letters, digits and -'
    ],
    [
      'service-account: -x',
      'service-account: this text is not a name in Kubernetes: lowercase letters, digits, - and .'
    ],
    [
      'image: "a b"',
      'image: this text is not the name of an image, such as registry.example/loadgate-node:1.2'
    ],
    ...['registry.example/Node', 'x//y', 'x:', 'x:a:b', '/x', 'x@sha256:12', 'x:-a', 'a_-b'].map(
      (image): [string, string] => [
        `image: "${image}"`,
        `image: this text is not the name of an image, such as registry.example/loadgate-node:1.2`
      ]
    ),
    ...['a..b/c', '-a/b', 'a/b/c', '/a', 'a/', 'A/b', `${'a'.repeat(254)}/b`].flatMap(
      (key): [string, string][] => [
        [`node-selector: { "${key}": c }`, `node-selector: ${quote(key)} is not the key of a label`],
        [
          `tolerations: [ { key: "${key}", operator: Exists } ]`,
          `tolerations: element 1: key: this text is not the key of a taint: at most 63 letters, digits, - _ and .`
        ]
      ]
    ),
    [
      'tolerations: [ { key: a, value: "b c" } ]',
      'tolerations: element 1: value: this text is not the value of a taint: at most 63 letters, digits, - _ and .'
    ],
    ['node-selector: pool', 'node-selector: must be a map, found text'],
    [
      'node-selector: { pool: { a: b } }',
      'node-selector: pool: a map is not the value of a label: at most 63 letters, digits, - _ and .'
    ],
    ['node-selector: { "a b": c }', 'node-selector: "a b" is not the key of a label'],
    ['tolerations: { key: a }', 'tolerations: must be a list, found a map'],
    ['tolerations: [ a ]', 'tolerations: element 1: must be a map, found text'],
    [
      'tolerations: [ { keys: a } ]',
      'tolerations: element 1: unknown key keys (did you mean key?); known keys are key, operator, value, effect, tolerationSeconds'
    ],
    [
      'tolerations: [ { key: a, operator: In } ]',
      'tolerations: element 1: operator: this text is invalid; expected one of Exists, Equal'
    ],
    [
      'tolerations: [ { key: a, tolerationSeconds: 1.5 } ]',
      'tolerations: element 1: tolerationSeconds: "1.5" is invalid; expected a whole number, at least 0'
    ],
    [
      'tolerations: [ { key: a, tolerationSeconds: 60 } ]',
      'tolerations: element 1: tolerationSeconds is for the effect NoExecute'
    ],
    [
      'tolerations: [ { effect: NoSchedule } ]',
      'tolerations: element 1: without a key, the operator must be Exists'
    ],
    [
      'tolerations: [ { key: a, operator: Exists, value: b } ]',
      'tolerations: element 1: with the operator Exists there is no value'
    ],
    ['image-pull-secrets: registry', 'image-pull-secrets: must be a list, found text'],
    [
      'image-pull-secrets: [ { names: a } ]',
      'image-pull-secrets: element 1: unknown key names (did you mean name?); known keys are name'
    ],
    [
      'image-pull-policy: Sometimes',
      'image-pull-policy: this text is invalid; expected one of Always, IfNotPresent, Never'
    ],
    [
      'start-timeout: 0',
      'start-timeout: "0" is invalid; expected a duration of at least 1 s, in whole seconds or as 90s, 5m, 2h, 1h30m'
    ],
    ['instance-types: [ m5 ]', 'instance-types: must be a map, found a list'],
    ['instance-types: { m5: { cpu: "4" } }', 'instance-types: m5: memory: must be text, found nothing'],
    [
      'instance-types: { m5: { cpu: four, memory: 8Gi } }',
      'instance-types: m5: cpu: this text is invalid; expected cores, such as 4, 0.5 or 500m'
    ],
    [
      'instance-types: { m5: { cpu: "0", memory: 8Gi } }',
      'instance-types: m5: cpu: "0" is invalid; expected cores, such as 4, 0.5 or 500m'
    ],
    [
      'instance-types: { m5: { cpu: "4", memory: "8" } }',
      'instance-types: m5: memory: "8" is invalid; expected an amount of memory with its unit, such as 8Gi or 512Mi'
    ],
    [
      'instance-types: { m5: { cpu: "4", memory: 8GB } }',
      'instance-types: m5: memory: "8GB" is invalid; expected an amount of memory with its unit, such as 8Gi or 512Mi'
    ],
    [
      'instance-types: { m5: { cpu: "4", memory: 8m } }',
      'instance-types: m5: memory: "8m" is invalid; expected an amount of memory with its unit, such as 8Gi or 512Mi'
    ],
    [
      'instance-types: { m5: { cores: "4", cpu: "4", memory: 8Gi } }',
      'instance-types: m5: unknown key cores; known keys are cpu, memory'
    ]
  ])('%s', (text, problem) => {
    expect(cluster(text)).toEqual([`eu: kubernetes: ${problem}`])
  })
})

test.each([
  'node',
  'registry.example:5000/team/load_gate-node__x:1.2-rc_1',
  'localhost/loadgate/jmeter:5.6.3',
  '[::1]:5000/node',
  `ghcr.io/loadgate/node@sha256:${'ab'.repeat(32)}`
])('%s is the name of an image', (image) => {
  expect(parse(`eu: { kubernetes: { image: "${image}" } }`).problems).toEqual([])
})

/** As messages do. */
function quote(text: string): string {
  return text.length > 60 ? `"${text.slice(0, 59)}…"` : `"${text}"`
}
