import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHash, randomBytes } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { checkAccess } from '../../src/service/nodes/kubernetes/access.js'
import type { Cluster } from '../../src/service/nodes/kubernetes/cluster.js'
import { openCluster } from '../../src/service/nodes/kubernetes/open-cluster.js'

const IMAGE = process.env.LOADGATE_NODE_IMAGE ?? 'localhost/loadgate/jmeter:5.6.3'
const NAMESPACE = `loadgate-exec-${randomBytes(4).toString('hex')}`
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const FOREVER = new AbortController().signal
const MIB = 1024 * 1024

const isRequired = process.env.LOADGATE_REQUIRE_KUBERNETES === '1'
const hasCluster = isRequired || process.env.KUBECONFIG !== undefined
const describeWithCluster = hasCluster ? describe : describe.skip

describeWithCluster('a command in a real pod (needs KUBECONFIG)', () => {
  let cluster: Cluster

  beforeAll(async () => {
    cluster = await openCluster({ context: undefined, namespace: NAMESPACE }, process.env)
    await cluster.request('POST', '/api/v1/namespaces', { body: { metadata: { name: NAMESPACE } } })
    await startPod('node')
  })
  afterAll(async () => {
    await cluster.request('DELETE', `/api/v1/namespaces/${NAMESPACE}`)
  })

  async function startPod(name: string): Promise<void> {
    const command = ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 0.2; done"]
    const requests = { cpu: '100m', memory: '64Mi' }
    const containers = [
      { name: 'node', image: IMAGE, imagePullPolicy: 'Never', command, resources: { requests } }
    ]
    const spec = { terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, containers }
    await cluster.request('POST', PODS, { body: { metadata: { name }, spec } })
    const phaseOf = async (): Promise<string> =>
      (await cluster.request<{ status: { phase: string } }>('GET', `${PODS}/${name}`)).status.phase
    while ((await phaseOf()) !== 'Running') await sleep(200)
  }

  async function ask(script: string): Promise<string> {
    let said = ''
    const onStdout = (bytes: Uint8Array): void => {
      said += Buffer.from(bytes).toString('utf8')
    }
    await cluster.exec('node', ['sh', '-c', script], { onStdout }, FOREVER)
    return said.trim()
  }

  async function until(script: string, expected: string): Promise<void> {
    while ((await ask(script)) !== expected) await sleep(200)
  }

  test('has everything it needs to be allowed', async () => {
    expect(await checkAccess(cluster)).toEqual([])
  })

  test('reads and writes 50 MB exactly, both ways', async () => {
    const block = randomBytes(MIB)
    const ours = createHash('sha256')
    async function* blocks(): AsyncGenerator<Buffer> {
      for (let number = 0; number < 50; number++) {
        block.writeUInt32LE(number)
        ours.update(block)
        yield Buffer.from(block)
      }
    }
    const stored = await cluster.exec('node', ['sh', '-c', 'cat > /tmp/big'], { stdin: blocks() }, FOREVER)
    expect(stored).toEqual({ code: 0 })
    const digest = ours.digest('hex')
    expect(await ask('sha256sum < /tmp/big')).toBe(`${digest}  -`)
    const back = createHash('sha256')
    const read = await cluster.exec(
      'node',
      ['cat', '/tmp/big'],
      {
        onStdout: async (bytes) => {
          back.update(bytes)
          await nextTurn()
        }
      },
      FOREVER
    )
    expect(read).toEqual({ code: 0 })
    expect(back.digest('hex')).toBe(digest)
  })

  test('gives its exit code and both outputs', async () => {
    const said: string[] = []
    const { code } = await cluster.exec(
      'node',
      ['sh', '-c', 'echo "$1"; echo oops >&2; exit 42', 'sh', 'ä "b" & c'],
      {
        onStdout: (bytes) => void said.push(`out ${Buffer.from(bytes).toString('utf8')}`),
        onStderr: (bytes) => void said.push(`err ${Buffer.from(bytes).toString('utf8')}`)
      },
      FOREVER
    )
    expect(code).toBe(42)
    expect(said.sort()).toEqual(['err oops\n', 'out ä "b" & c\n'])
  })

  test('says in the cluster’s words what is missing', async () => {
    await expect(cluster.exec('node', ['nosuch'], {}, FOREVER)).rejects.toThrow(/"nosuch"/)
    const gone = cluster.exec('gone', ['true'], {}, FOREVER)
    await expect(gone).rejects.toThrow(/HTTP 404: pods "gone" not found/)
  })

  test('sees the end of its held input when it is aborted', async () => {
    const stopper = new AbortController()
    const script = 'echo ready; cat > /dev/null; echo closed > /tmp/held'
    const work = cluster.exec(
      'node',
      ['sh', '-c', script],
      { stdin: 'hold', onStdout: () => stopper.abort(new Error('enough')) },
      stopper.signal
    )
    await expect(work).rejects.toThrow('enough')
    await until('cat /tmp/held 2>/dev/null', 'closed')
  })

  test('ends with an exit code or as a cut stream when its pod is deleted', async () => {
    await startPod('short')
    let deleted: Promise<unknown> | undefined
    const onStdout = (): void => {
      deleted = cluster.request('DELETE', `${PODS}/short`)
    }
    const script = 'echo ready; while :; do sleep 1; done'
    const outcome = await cluster
      .exec('short', ['sh', '-c', script], { onStdout }, FOREVER)
      .then(({ code }) => String(code))
      .catch((error: unknown) => (error as Error).name)
    await deleted
    expect(['137', 'ClusterError']).toContain(outcome)
  })
})
