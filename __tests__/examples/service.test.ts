import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseConfig } from '../../src/service/config/parse-config.js'
import type { ServiceConfig } from '../../src/service/config/config.js'
import { RULES } from '../../src/service/nodes/kubernetes/access.js'
import { instructionsOf } from '../support/tools/service-image.js'
import {
  type Manifest,
  readServiceManifest,
  SERVICE_MANIFEST
} from '../support/kubernetes/service-manifest.js'

const UNIT = 'examples/service/loadgate.service'
/** Tools in pods are stopped and their last results read, for a minute each. */
const AFTER_DRAIN_MS = 120_000
const CONFIG_FOLDER = '/etc/loadgate'

function configOf(text: string): ServiceConfig {
  const { config, problems } = parseConfig(text, CONFIG_FOLDER)
  expect(problems).toEqual([])
  return config!
}

/** What the image is made for. */
const IMAGE = {
  user: Number(/^USER (\d+):\d+$/m.exec(instructionsOf('images/service/Dockerfile').join('\n'))![1]),
  data: '/var/lib/loadgate',
  port: 8443
}

const EXAMPLE = readFileSync('examples/service/service.yml', 'utf8')

describe('examples/service/service.yml', () => {
  test('is accepted, and is for the image and the unit', () => {
    const config = configOf(EXAMPLE)
    expect(config).toMatchObject({ dataDir: IMAGE.data, listen: { port: IMAGE.port } })
    expect(config.tls).toEqual({ certificate: '/etc/loadgate/tls.crt', key: '/etc/loadgate/tls.key' })
  })
})

describe(UNIT, () => {
  const text = readFileSync(UNIT, 'utf8')
  const settings = new Map(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value] as const)
  )

  test('starts the service with the config file, on a data folder that it may write to', () => {
    expect(settings.get('ExecStart')).toMatch(/loadgate serve --config \/etc\/loadgate\/service\.yml$/)
    expect(`/var/lib/${settings.get('StateDirectory')!}`).toBe(configOf(EXAMPLE).dataDir)
    expect(settings.get('ProtectSystem')).toBe('strict')
    // Node and Java compile to memory that they then execute.
    expect(settings.get('MemoryDenyWriteExecute')).toBeUndefined()
  })

  test('a stop leaves time to drain, and tells only the service', () => {
    const [, minutes] = /^(\d+)min$/.exec(settings.get('TimeoutStopSec')!)!
    expect(Number(minutes) * 60_000).toBe(configOf(EXAMPLE).drainMs + AFTER_DRAIN_MS)
    expect(settings.get('KillMode')).toBe('mixed')
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
  const testWithSystemd = hasSystemd ? test : test.skip

  testWithSystemd('systemd understands every line of it, and finds it hardened', () => {
    const verified = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' })
    expect({ code: verified.status, said: verified.stderr }).toEqual({ code: 0, said: '' })
    const args = ['security', '--offline=yes', '--threshold=20', '--no-pager', UNIT]
    const judged = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    expect(judged.status === 0 ? '' : judged.stdout).toBe('')
  })
})

interface StatefulSet {
  readonly replicas: number
  readonly template: { readonly spec: PodSpec }
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly serviceAccountName: string
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly containers: readonly {
    readonly image: string
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
    readonly securityContext: unknown
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
    readonly [probe: `${string}Probe`]: { readonly httpGet: unknown }
  }[]
  readonly volumes: readonly { readonly name: string }[]
}

describe(SERVICE_MANIFEST, () => {
  const documents = readServiceManifest()
  const find = (kind: string): Manifest => documents.find((document) => document.kind === kind)!
  const config = configOf((find('ConfigMap').data as Record<string, string>)['service.yml']!)
  const workload = find('StatefulSet').spec as StatefulSet
  const pod = workload.template.spec
  const container = pod.containers[0]!

  test('grants what grids need in their namespace, and nothing else anywhere', () => {
    const { rules, metadata } = find('Role')
    expect(rules).toEqual(
      RULES.map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs }))
    )
    const place = [...config.regions!.values()][0]!
    expect(place).toMatchObject({ namespace: metadata.namespace })
    expect(find('RoleBinding')).toMatchObject({
      metadata: { namespace: metadata.namespace },
      roleRef: { kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: pod.serviceAccountName, namespace: 'loadgate' }]
    })
    expect(documents.filter(({ kind }) => /Role|Binding/.test(kind))).toHaveLength(2)
  })

  test('one service at a time has the data, and a stop leaves time to drain', () => {
    // A StatefulSet; and with another policy, one whose pod does not get ready would never be corrected.
    expect(workload).toMatchObject({ replicas: 1, podManagementPolicy: 'Parallel' })
    expect(pod.terminationGracePeriodSeconds * 1000).toBe(config.drainMs + AFTER_DRAIN_MS)
  })

  test('runs as the user of the image, on a read-only root, with nothing to gain', () => {
    const [uid, gid] = [IMAGE.user, IMAGE.user]
    expect(pod.securityContext).toMatchObject({
      ...{ runAsNonRoot: true, runAsUser: uid, runAsGroup: gid, fsGroup: gid },
      seccompProfile: { type: 'RuntimeDefault' }
    })
    expect(container.securityContext).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] }
    })
    const writable = container.volumeMounts.filter((mount) => !('readOnly' in mount))
    expect(writable.map(({ mountPath }) => mountPath)).toEqual([config.dataDir, '/tmp'])
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name))
  })

  test('is asked how it is where it listens', () => {
    const [{ name, containerPort } = { name: '', containerPort: 0 }] = container.ports
    expect([containerPort, containerPort]).toEqual([config.listen.port, IMAGE.port])
    const at = (path: string): object => ({ httpGet: { path, port: name, scheme: 'HTTPS' } })
    expect(container).toMatchObject({
      startupProbe: at('/healthz'),
      livenessProbe: at('/healthz'),
      readinessProbe: at('/healthz')
    })
  })

  test('the files that the config names are those of the secrets', () => {
    const { projected } = pod.volumes.find(({ name }) => name === 'config') as unknown as {
      projected: { sources: readonly { secret?: { items?: readonly { path: string }[] } }[] }
    }
    const named = projected.sources.flatMap(({ secret }) =>
      secret === undefined ? [] : (secret.items?.map(({ path }) => path) ?? ['tls.crt', 'tls.key'])
    )
    const { certificate, key } = config.tls!
    expect(named.map((file) => `${CONFIG_FOLDER}/${file}`)).toEqual([
      certificate,
      key,
      config.metrics!.tokenFile
    ])
  })

  test('its image is that of this version', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    const release = readFileSync('.github/workflows/release.yml', 'utf8')
    const [name, tag] = container.image.split(':')
    expect(tag).toBe(version)
    expect([...release.matchAll(/IMAGE: (\S+)/g)].map(([, image]) => image)).toContain(name)
  })
})
