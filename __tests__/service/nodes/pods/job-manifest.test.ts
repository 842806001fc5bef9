import { expect, test } from '@jest/globals'
import type { KubernetesPlace } from '../../../../src/contract/regions/regions.js'
import { jobManifest, jobName } from '../../../../src/service/nodes/pods/start/job-manifest.js'
import { createId } from '../../../../src/service/store/data-folder.js'
import { SUPERVISOR } from '../../../../src/service/nodes/pods/work/supervisor.js'
import { makePlace } from '../../../support/kubernetes/make-place.js'
import { MARKER, NODES } from './fake-cluster.js'

interface Manifest {
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> }
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> }
      readonly spec: Record<string, unknown> & { readonly containers: Record<string, unknown>[] }
    }
  }
}

function manifestOf(
  place: Partial<KubernetesPlace> = {},
  { instanceType = 'm5.xlarge' }: { instanceType?: string } = {}
): Manifest {
  const request = {
    ...NODES,
    tool: 'jmeter',
    region: 'eu',
    quantity: 3,
    instanceType,
    stopAfterMin: 30,
    isContinued: false
  }
  return jobManifest({
    place: makePlace(place),
    request,
    marker: MARKER,
    defaultImage: 'own:1'
  }) as unknown as Manifest
}

test('is one Job with a pod for each node, none of which is replaced, and a deadline', () => {
  const { metadata, spec } = manifestOf()
  expect(metadata.name).toBe('loadgate-beef-abc123')
  expect(spec).toMatchObject({
    completionMode: 'Indexed',
    completions: 3,
    parallelism: 3,
    backoffLimitPerIndex: 0,
    podReplacementPolicy: 'Failed',
    activeDeadlineSeconds: 300 + 30 * 60 + 600,
    ttlSecondsAfterFinished: 600
  })
  expect(spec.template.spec).toMatchObject({ restartPolicy: 'Never', automountServiceAccountToken: false })
})

test('carries run, grid and marker, on the Job and on its pods', () => {
  const { metadata, spec } = manifestOf()
  expect(metadata.labels).toEqual({
    'app.kubernetes.io/managed-by': 'loadgate',
    'loadgate.dev/marker': 'feed01',
    'loadgate.dev/run': 'beef',
    'loadgate.dev/grid': 'abc123'
  })
  expect(spec.template.metadata.labels).toEqual(metadata.labels)
})

test('has a name that a cluster accepts for the last of the most pods', () => {
  const id = createId()
  expect(`${jobName({ runId: id, gridId: id })}-999`.length).toBeLessThanOrEqual(63)
})

test('satisfies the PodSecurity level restricted', () => {
  const { spec } = manifestOf().spec.template
  expect(spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 65534,
    seccompProfile: { type: 'RuntimeDefault' }
  })
  expect(spec.containers[0]!.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] }
  })
  expect(spec).not.toHaveProperty('hostNetwork')
})

test('asks for what the instance type has, and limits the pod to it', () => {
  const instanceTypes = new Map([['m5.xlarge', { cpu: '4', memory: '8Gi' }]])
  const resourcesOf = (instanceType: string): unknown =>
    manifestOf({ instanceTypes }, { instanceType }).spec.template.spec.containers[0]!.resources
  const both = { cpu: '4', memory: '8Gi' }
  expect(resourcesOf('m5.xlarge')).toEqual({ requests: both, limits: both })
  expect(resourcesOf('other')).toEqual({ requests: { cpu: '1', memory: '2Gi' } })
})

test('is placed as the region says', () => {
  const { spec } = manifestOf({
    image: 'registry.example/node:2',
    imagePullPolicy: 'Always',
    imagePullSecrets: ['pull'],
    serviceAccount: 'loadgate-node',
    nodeSelector: { pool: 'load' },
    tolerations: [{ key: 'load', operator: 'Exists' }],
    hostNetwork: true
  }).spec.template
  expect(spec).toMatchObject({
    serviceAccountName: 'loadgate-node',
    imagePullSecrets: [{ name: 'pull' }],
    nodeSelector: { pool: 'load' },
    tolerations: [{ key: 'load', operator: 'Exists' }],
    hostNetwork: true
  })
  expect(spec.containers[0]).toMatchObject({ image: 'registry.example/node:2', imagePullPolicy: 'Always' })
  const plain = manifestOf().spec.template.spec
  expect(plain.containers[0]).toMatchObject({ image: 'own:1', command: ['sh', '-c', SUPERVISOR] })
  expect(plain).not.toHaveProperty('serviceAccountName')
})

test('sets no variable: whatever is in a Job can be read by many', () => {
  expect(manifestOf().spec.template.spec.containers[0]).not.toHaveProperty('env')
})
