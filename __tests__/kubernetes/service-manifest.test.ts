import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import type { Cluster } from '../../src/service/nodes/kubernetes/cluster.js'
import { RULES } from '../../src/service/nodes/kubernetes/access.js'
import { openCluster } from '../../src/service/nodes/kubernetes/open-cluster.js'
import {
  type Manifest,
  readServiceManifest,
  renameNamespaces
} from '../support/kubernetes/service-manifest.js'

/** In namespaces of other names: somebody may have a service on this cluster. */
const SUFFIX = randomBytes(4).toString('hex')
const SERVICE = `loadgate-${SUFFIX}`
const GRIDS = `load-${SUFFIX}`
const documents = readServiceManifest((text) => renameNamespaces(text, { service: SERVICE, grids: GRIDS }))

let cluster: Cluster

/** Only what the rights consist of is really created. */
const CREATED = ['Namespace', 'ServiceAccount', 'Role', 'RoleBinding']

beforeAll(async () => {
  cluster = await openCluster({ context: undefined, namespace: GRIDS }, process.env)
  for (const document of documents.filter(({ kind }) => CREATED.includes(kind)))
    await cluster.request('POST', pathOf(document), { body: document })
})
afterAll(async () => {
  for (const name of [SERVICE, GRIDS]) await cluster.request('DELETE', `/api/v1/namespaces/${name}`)
})

function pathOf({ apiVersion, kind, metadata: { namespace } }: Manifest): string {
  const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`
  return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`
}

test.each(documents.filter(({ kind }) => !CREATED.includes(kind)).map((each) => [each.kind, each] as const))(
  'the cluster would create the %s, and knows every field of it',
  async (_, document) => {
    const path = `${pathOf(document)}?dryRun=All&fieldValidation=Strict`
    const created = await cluster.request<Manifest>('POST', path, { body: document })
    expect(created.metadata).toMatchObject(document.metadata)
  }
)

test('the pod is one that its namespace admits', async () => {
  const { spec } = documents.find(({ kind }) => kind === 'StatefulSet') as unknown as {
    spec: { template: { spec: object } }
  }
  const metadata = { name: 'probe', namespace: SERVICE }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: spec.template.spec }
  const path = `${pathOf(pod)}?dryRun=All&fieldValidation=Strict`
  await expect(cluster.request('POST', path, { body: pod })).resolves.toMatchObject({ metadata })
  const worse = { ...pod, spec: { ...spec.template.spec, hostNetwork: true } }
  await expect(cluster.request('POST', path, { body: worse })).rejects.toThrow(/PodSecurity/)
})

test('the service may do what grids need where they run, and nothing where it runs itself', async () => {
  const user = `system:serviceaccount:${SERVICE}:loadgate`
  const asked = RULES.flatMap(({ group, resource: path, verbs }) =>
    verbs.map((verb) => {
      const [resource, subresource] = path.split('/')
      return { group, resource, subresource, verb }
    })
  )
  const answers = async (namespace: string): Promise<unknown[]> =>
    Promise.all(
      asked.map(async (attributes) => {
        const body = {
          ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
          spec: { user, resourceAttributes: { namespace, ...attributes } }
        }
        const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
        const { status } = await cluster.request<{ status: { allowed: boolean } }>('POST', path, { body })
        return status.allowed
      })
    )
  expect(await answers(GRIDS)).toEqual(asked.map(() => true))
  expect(await answers(SERVICE)).toEqual(asked.map(() => false))
})
