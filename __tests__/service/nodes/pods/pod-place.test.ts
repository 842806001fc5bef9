import { describe, expect, test } from '@jest/globals'
import { NodeError, type NodeCommand, type NodeSet } from '../../../../src/service/nodes/load-node.js'
import { createPodPlace } from '../../../../src/service/nodes/pods/pod-place.js'
import { deleteMarked } from '../../../../src/service/nodes/pods/start/jobs.js'
import { ManualClock } from '../../../support/manual-clock.js'
import { makePlace } from '../../../support/kubernetes/make-place.js'
import { FakeCluster, makeJob, makePod, MARKER, NODES, waitingPod, type Answer } from './fake-cluster.js'

class Stage {
  readonly clock = new ManualClock()
  readonly cluster = new FakeCluster()
  readonly lines: string[] = []
  readonly cancel = new AbortController()

  open(
    wish: {
      quantity?: number
      isContinued?: boolean
      tool?: string | undefined
      image?: string | undefined
    } = {}
  ): Promise<NodeSet> {
    const { quantity = 1, isContinued = false, tool = 'jmeter', image } = wish
    const opening = createPodPlace({
      place: { ...makePlace(), image },
      cluster: this.cluster,
      defaultImage: 'own:1',
      marker: MARKER,
      clock: this.clock,
      log: (line) => this.lines.push(line)
    }).open(
      {
        ...NODES,
        tool,
        region: 'eu',
        quantity,
        instanceType: 'small',
        stopAfterMin: 5,
        isContinued
      },
      this.cancel.signal
    )
    opening.catch(() => undefined)
    return opening
  }

  countOf(request: string): number {
    return this.cluster.asked.filter((asked) => asked.startsWith(request)).length
  }

  /** Two pods that run. */
  async openTwo(): Promise<NodeSet> {
    this.cluster.podsOfJob = [makePod(0), makePod(1)]
    return this.clock.run(this.open({ quantity: 2 }))
  }

  change(...pods: ReturnType<typeof makePod>[]): void {
    this.cluster.pods = pods
  }
}

function workOn(set: NodeSet, index: number): Promise<unknown> {
  const command: NodeCommand = {
    file: 'sleep',
    args: [],
    cwd: '/',
    env: {},
    onLine: () => undefined,
    brings: [],
    follows: [],
    collects: []
  }
  const work = set.nodes[index]!.run(command, new AbortController().signal)
  work.catch(() => undefined)
  return work
}

describe('a Job is created once', () => {
  const cases: [name: string, answers: Answer[], posts: number][] = [
    ['at the first attempt', ['served'], 1],
    ['when the reply is lost', ['lost after'], 1],
    ['when the request is lost', ['lost before'], 2],
    ['when the server fails', [500, 503, 429], 4]
  ]
  test.each(cases)('%s', async (_name, answers, posts) => {
    const stage = new Stage()
    stage.cluster.podsOfJob = [makePod(0)]
    stage.cluster.answers = [...answers]
    await stage.clock.run(stage.open())
    expect(stage.countOf('POST')).toBe(posts)
    expect(stage.cluster.jobs).toHaveLength(1)
  })

  test.each([
    ['jmeter', undefined, 'own:1'],
    ['gatling', undefined, 'own:1'],
    ['java-selenium-chrome', undefined, 'own:1-browsers'],
    ['java-selenium-firefox', undefined, 'own:1-browsers'],
    ['service-chrome', undefined, 'own:1-browsers'],
    ['service-chrome', 'theirs:2', 'theirs:2'],
    [undefined, undefined, 'own:1']
  ])('of the tool %s, where the place names the image %s: of %s', async (tool, image, expected) => {
    const stage = new Stage()
    stage.cluster.podsOfJob = [makePod(0)]
    await stage.clock.run(stage.open({ tool, image }))
    expect(JSON.stringify(stage.cluster.jobs)).toContain(`"image":"${expected}"`)
  })

  test('and not at all where the cluster says no', async () => {
    const stage = new Stage()
    stage.cluster.answers = [403]
    await expect(stage.clock.run(stage.open())).rejects.toThrow(
      'The Job loadgate-beef-abc123 could not be created in namespace load of the cluster load-eu: HTTP 403: no.'
    )
    expect(stage.countOf('POST')).toBe(1)
  })

  test("and another service's is not taken for it, nor deleted", async () => {
    const stage = new Stage()
    stage.cluster.jobs = [
      makeJob({ labels: { 'loadgate.dev/marker': 'other', 'loadgate.dev/grid': NODES.gridId } })
    ]
    await expect(stage.clock.run(stage.open())).rejects.toThrow(/which another service created/)
    expect(stage.countOf('DELETE')).toBe(0)
  })

  test('and deleted even if it appears after a cancel', async () => {
    const stage = new Stage()
    stage.cluster.answers = ['lost before']
    const opening = stage.open()
    await stage.clock.advance(100)
    stage.cancel.abort(new Error('cancelled'))
    await stage.clock.advance(100)
    stage.cluster.jobs = [makeJob()]
    await expect(stage.clock.run(opening)).rejects.toThrow('cancelled')
    expect(stage.cluster.jobs).toEqual([])
  })
})

describe('pods that do not start', () => {
  test('are reported at the deadline with their words, in the log after ten seconds; nothing is left', async () => {
    const stage = new Stage()
    const message = 'Failed to pull image "own:1": unauthorized'
    stage.cluster.podsOfJob = [makePod(0), waitingPod(1, 'ImagePullBackOff', message)]
    const opening = stage.open({ quantity: 2 })
    await stage.clock.advance(9000)
    expect(stage.lines).toEqual([])
    await stage.clock.advance(3000)
    expect(stage.lines).toEqual([
      expect.stringMatching(/^Waiting for 1 of 2 pods of the grid in eu\. Node 2: ImagePullBackOff: "Failed/)
    ])
    await stage.clock.advance(280_000)
    expect(stage.lines).toHaveLength(1)
    await expect(stage.clock.run(opening)).rejects.toThrow(
      `1 of 2 pods of the grid in eu did not start within 300 s (namespace load of the cluster load-eu). ` +
        `Node 2: ImagePullBackOff: "${message}". Check \`image\` (own:1) and \`image-pull-secrets\`, and that the machine reaches the registry.`
    )
    expect(stage.clock.elapsedMs).toBe(300_000)
    expect(stage.cluster.jobs).toEqual([])
    expect(stage.cluster.deleted).toEqual([
      expect.objectContaining({ propagationPolicy: 'Background', preconditions: { uid: 'job-1' } })
    ])
  })

  test('are reported at once where waiting cannot help', async () => {
    const stage = new Stage()
    stage.cluster.podsOfJob = [waitingPod(0, 'ErrImageNeverPull', 'not present')]
    await expect(stage.clock.run(stage.open())).rejects.toThrow(
      /^The only pod of the grid in eu did not start \(/
    )
    expect(stage.clock.elapsedMs).toBe(0)
    expect(stage.cluster.jobs).toEqual([])
  })

  test('get some seconds where the namespace may just be new', async () => {
    const stage = new Stage()
    const refusal = {
      involvedObject: { uid: 'job-1' },
      reason: 'FailedCreate',
      message: 'pods "x" is forbidden: serviceaccount "default" not found'
    }
    stage.cluster.events = [refusal]
    const opening = stage.open()
    await stage.clock.advance(2000)
    stage.change(makePod(0))
    await expect(stage.clock.run(opening)).resolves.toBeDefined()
    const late = new Stage()
    late.cluster.events = [refusal]
    await expect(late.clock.run(late.open())).rejects.toThrow(/serviceaccount "default" not found/)
    expect(late.clock.elapsedMs).toBe(5000)
  })

  test('are waited for while the cluster is away', async () => {
    const stage = new Stage()
    stage.cluster.podsOfJob = [waitingPod(0, 'ContainerCreating')]
    const opening = stage.open()
    await stage.clock.advance(1000)
    stage.cluster.isAway = true
    await stage.clock.advance(60_000)
    expect(stage.lines).toEqual([expect.stringMatching(/could not be listed: .*ECONNREFUSED\. Trying/)])
    stage.cluster.isAway = false
    stage.change(makePod(0))
    await expect(stage.clock.run(opening)).resolves.toBeDefined()
  })

  test('are not replaced: one that vanished is lost', async () => {
    const stage = new Stage()
    stage.cluster.podsOfJob = [waitingPod(0, 'ContainerCreating')]
    const opening = stage.open()
    await stage.clock.advance(1000)
    stage.change(makePod(0, {}, { uid: 'another', name: 'another' }))
    await expect(stage.clock.run(opening)).rejects.toThrow(/Node 1: the pod is gone/)
  })

  test('are deleted when the start is cancelled', async () => {
    const stage = new Stage()
    stage.cluster.podsOfJob = [waitingPod(0, 'ContainerCreating')]
    const opening = stage.open()
    await stage.clock.advance(1000)
    stage.cancel.abort(new Error('cancelled'))
    await expect(stage.clock.run(opening)).rejects.toThrow('cancelled')
    expect(stage.cluster.jobs).toEqual([])
  })
})

describe('pods that run', () => {
  test('have facts', async () => {
    const stage = new Stage()
    const set = await stage.openTwo()
    expect(set.factsOf(1)).toMatchObject({
      place: 'pod loadgate-beef-abc123-1-x on the machine machine-1 (namespace load of the cluster load-eu)',
      cpuLimit: 0.5,
      restarts: 0
    })
    expect(set.nodes[1]!.memoryBytes).toBe(64 * 2 ** 20)
  })

  test('are lost one by one, within two seconds', async () => {
    const stage = new Stage()
    const set = await stage.openTwo()
    const [other, work] = [workOn(set, 0), workOn(set, 1)]
    const dead = { name: 'node', state: { terminated: { reason: 'OOMKilled', exitCode: 137 } } }
    stage.change(makePod(0), makePod(1, { phase: 'Failed', containerStatuses: [dead] }))
    await stage.clock.advance(2000)
    await expect(work).rejects.toThrow(
      'Node 2 of 2 of the grid in eu (pod loadgate-beef-abc123-1-x on the machine machine-1) was lost: ' +
        'it used more memory than its limit of 64Mi (OOMKilled, exit code 137). ' +
        'Give this instance type more memory in `instance-types`, or spread the load over more nodes.'
    )
    await expect(work).rejects.toBeInstanceOf(NodeError)
    await expect(Promise.race([other, Promise.resolve('works')])).resolves.toBe('works')
  })

  test('are asked for no longer once they are given back', async () => {
    const stage = new Stage()
    const set = await stage.openTwo()
    await stage.clock.run(set.close())
    const { length } = stage.cluster.asked
    await stage.clock.advance(60_000)
    expect(stage.cluster.asked).toHaveLength(length)
    expect(stage.cluster.jobs).toEqual([])
  })
})

describe('giving pods back', () => {
  test('is tried for a minute, then left to whoever has access', async () => {
    const stage = new Stage()
    const set = await stage.openTwo()
    stage.cluster.isAway = true
    await stage.clock.run(set.close())
    expect(stage.clock.elapsedMs).toBe(60_000)
    expect(stage.lines.at(-1)).toMatch(
      /run: kubectl delete job -n load --context load-eu -l loadgate\.dev\/marker=feed01,loadgate\.dev\/run=beef,loadgate\.dev\/grid=abc123$/
    )
  })

  test('works when the cluster is back, and when the Job is gone', async () => {
    const stage = new Stage()
    const set = await stage.openTwo()
    stage.cluster.answers = ['lost before', 503]
    await stage.clock.run(set.close())
    expect(stage.cluster.jobs).toEqual([])
    const gone = new Stage()
    const other = await gone.openTwo()
    gone.cluster.answers = [404]
    await gone.clock.run(other.close())
    expect(gone.lines).toEqual([])
  })

  test('tells at once where the cluster says no', async () => {
    const stage = new Stage()
    const set = await stage.openTwo()
    stage.cluster.answers = [403]
    await stage.clock.run(set.close())
    expect(stage.clock.elapsedMs).toBe(0)
    expect(stage.lines).toEqual([expect.stringContaining('kubectl delete job -n load --context load-eu -l')])
  })
})

describe('pods of somebody else with the same labels', () => {
  const foreign = makePod(0, {}, { name: 'foreign', uid: 'foreign', ownerReferences: [{ uid: 'other' }] })
  const nobodys = { ...foreign, metadata: { ...foreign.metadata, ownerReferences: [] } }

  test.each([foreign, nobodys])('are not waited for, nor used', async (pod) => {
    const stage = new Stage()
    stage.cluster.podsOfJob = [pod]
    const opening = stage.open()
    await stage.clock.advance(3000)
    stage.change(makePod(0), pod)
    const set = await stage.clock.run(opening)
    expect(set.factsOf(0).name).toBe('loadgate-beef-abc123-0-x')
  })

  test.each([foreign, nobodys])('are not taken up', async (pod) => {
    const stage = new Stage()
    const { labels, ...metadata } = makeJob().metadata
    stage.cluster.jobs = [
      { metadata: { ...metadata, name: 'foreign', uid: 'other', labels: { ...labels } } },
      makeJob()
    ]
    stage.change(makePod(0), pod)
    const set = await stage.clock.run(stage.open({ isContinued: true }))
    expect(set.factsOf(0).name).toBe('loadgate-beef-abc123-0-x')
  })
})

describe('pods of an earlier service', () => {
  test('are found, and no Job is created', async () => {
    const stage = new Stage()
    stage.cluster.jobs = [makeJob()]
    stage.change(makePod(0), makePod(1))
    const set = await stage.clock.run(stage.open({ quantity: 2, isContinued: true }))
    expect(set.factsOf(1).place).toContain('pod loadgate-beef-abc123-1-x')
    expect(stage.countOf('POST')).toBe(0)
  })

  test('are lost one by one: what the others have is worth keeping', async () => {
    const stage = new Stage()
    stage.cluster.jobs = [makeJob()]
    const failures = { 'batch.kubernetes.io/job-index-failure-count': '1' }
    stage.change(makePod(0), makePod(2, {}, { annotations: failures }))
    const set = await stage.clock.run(stage.open({ quantity: 3, isContinued: true }))
    await expect(workOn(set, 1)).rejects.toThrow(/^Node 2 of 3 of the grid in eu was lost: the pod is gone/)
    await expect(workOn(set, 2)).rejects.toThrow(/^Node 3 of 3 of the grid in eu was lost: the pod is gone/)
    expect(set.factsOf(0).place).toContain('pod loadgate-beef-abc123-0-x')
  })

  test('are an error when none is left', async () => {
    const stage = new Stage()
    await expect(stage.clock.run(stage.open({ isContinued: true }))).rejects.toThrow(
      /^The pods of the grid in eu are gone/
    )
    expect(stage.countOf('POST')).toBe(0)
  })
})

describe('leftovers', () => {
  const deleteByMarker = (cluster: FakeCluster, marker: string): Promise<number> =>
    deleteMarked(marker, { cluster, clock: new ManualClock(), isUnclear: false })

  test.each<Answer>(['lost before', 503, 429])(
    'are deleted although the cluster was out of order for a moment (%p)',
    async (answer) => {
      const cluster = new FakeCluster()
      const clock = new ManualClock()
      cluster.jobs = [makeJob()]
      cluster.answers = [answer, answer]
      expect(await clock.run(deleteMarked(MARKER, { cluster, clock, isUnclear: true }))).toBe(1)
      expect([cluster.jobs, clock.elapsedMs]).toEqual([[], 4000])
    }
  )

  test('of a cluster that stays away are given up with its words', async () => {
    const cluster = new FakeCluster()
    const clock = new ManualClock()
    cluster.isAway = true
    const deleting = deleteMarked(MARKER, { cluster, clock, isUnclear: true })
    await expect(clock.run(deleting)).rejects.toThrow('ECONNREFUSED')
    expect(clock.elapsedMs).toBe(50_000)
  })

  test.each([401, 403])('are not asked for again where that is refused (%p)', async (answer) => {
    const cluster = new FakeCluster()
    const clock = new ManualClock()
    cluster.jobs = [makeJob()]
    cluster.answers = [answer]
    const deleting = deleteMarked(MARKER, { cluster, clock, isUnclear: true })
    await expect(clock.run(deleting)).rejects.toThrow(`HTTP ${answer}`)
    expect(clock.elapsedMs).toBe(0)
  })

  test('are looked for once more, for a request may still be on its way', async () => {
    const cluster = new FakeCluster()
    const clock = new ManualClock()
    const deleting = deleteMarked(MARKER, { cluster, clock, isUnclear: true })
    await clock.advance(1000)
    cluster.jobs = [makeJob()]
    expect(await clock.run(deleting)).toBe(1)
    expect(await clock.run(deleteMarked(MARKER, { cluster, clock, isUnclear: true }))).toBe(0)
  })

  test('are what carries the marker, all of it, even if one cannot be deleted', async () => {
    const cluster = new FakeCluster()
    const named = (name: string, marker: string): ReturnType<typeof makeJob> => {
      const job = makeJob({ labels: { 'loadgate.dev/marker': marker } })
      return { ...job, metadata: { ...job.metadata, name } }
    }
    cluster.jobs = [named('one', MARKER), named('two', MARKER), named('other', 'beef')]
    cluster.answers = [403]
    await expect(deleteByMarker(cluster, MARKER)).rejects.toThrow('HTTP 403')
    expect(cluster.jobs.map(({ metadata }) => metadata.name)).toEqual(['one', 'other'])
    expect(await deleteByMarker(cluster, MARKER)).toBe(1)
    expect(cluster.jobs.map(({ metadata }) => metadata.name)).toEqual(['other'])
  })

  test.each(['', 'a,b', 'x=y', '!x'])('are never looked for by the marker "%s"', async (marker) => {
    const cluster = new FakeCluster()
    await expect(async () => deleteByMarker(cluster, marker)).rejects.toThrow(
      'cannot be the value of the label'
    )
    expect(cluster.asked).toEqual([])
  })
})
