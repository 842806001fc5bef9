import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { describeWithCluster, PodStage } from '../../support/kubernetes/stage.js'

let stage: PodStage
beforeEach(async () => {
  stage = await new PodStage().start()
})
afterEach(() => stage.close())

// These disturb everything else on the cluster, so nothing else runs beside them.
describeWithCluster('a cluster in trouble', () => {
  test('the API server is killed in the middle: the run goes on, and every sample arrives', async () => {
    const gate = stage.startGate({ durationSec: 20 })
    await stage.atWork(1)
    stage.cluster.killApiServer()
    const result = await stage.result(gate)
    expect(result.text).toContain('PASSED')
    expect(result).toMatchObject({ code: 0, verdict: 'passed', samples: stage.target.hits() })
    expect(await stage.leftBehind()).toEqual([])
  })

  test('a machine falls silent: its node is lost, and the run is not green', async () => {
    const gate = stage.startGate({ durationSec: 240 })
    await stage.atWork(1)
    await stage.rowsArrive()
    stage.cluster.freezeKubelet()
    try {
      const result = await stage.result(gate)
      expect([result.code, result.verdict]).toEqual([2, 'inconclusive'])
      expect(result.samples).toBeGreaterThan(0)
      expect(result.text).toMatch(/kubelet|NodeNotReady|NodeStatusUnknown|not ready/i)
    } finally {
      stage.cluster.thawKubelet()
    }
    expect(await stage.leftBehind()).toEqual([])
  })

  test('a machine with a taint takes only pods that tolerate it', async () => {
    const [machine] = await stage.api.list('/api/v1/nodes')
    const path = `/api/v1/nodes/${machine!.metadata.name}`
    const taint = { key: 'loadgate.dev/test', value: stage.namespace, effect: 'NoSchedule' }
    await stage.api.request('PATCH', path, { spec: { taints: [taint] } })
    try {
      const regions = stage.regions({ 'start-timeout': '15s' })
      const refused = await stage.result(stage.startGate({ regions }))
      expect(refused).toMatchObject({ code: 2, samples: 0 })
      expect(refused.text).toMatch(/untolerated taint/)
      expect(await stage.leftBehind()).toEqual([])
      const tolerations = [{ key: taint.key, operator: 'Exists', effect: taint.effect }]
      const output = 'tolerated'
      const gate = stage.startGate({ regions: stage.regions({ tolerations }), output })
      await stage.podsRun(1)
      expect(await stage.result(gate, output)).toMatchObject({ code: 0, verdict: 'passed' })
    } finally {
      await stage.api.request('PATCH', path, { spec: { taints: null } })
    }
  })
})
