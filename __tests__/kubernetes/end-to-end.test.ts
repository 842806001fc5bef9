import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { describeWithCluster, PodStage } from '../support/kubernetes/stage.js'

let stage: PodStage
beforeEach(async () => {
  stage = await new PodStage().start()
})
afterEach(() => stage.close())

const TWO_BY_TWO = (stage: PodStage): { regions: string; grids: string } => ({
  regions: stage.regions({}, ['eu', 'us']),
  grids: stage.grids({ region: 'eu', instance_quantity: 2 }, { region: 'us', instance_quantity: 2 })
})

describeWithCluster('the gate on pods, with real JMeter', () => {
  test('two grids of two pods: as many samples as hits, and nothing is left', async () => {
    const gate = stage.startGate({ ...TWO_BY_TWO(stage), durationSec: 12 })
    await stage.atWork(4)
    const result = await stage.result(gate)
    expect(result.text).toContain('PASSED')
    expect(result).toMatchObject({ code: 0, verdict: 'passed', samples: stage.target.hits() })
    expect(await stage.leftBehind()).toEqual([])
  })

  test('a broken threshold is a failed gate, and nothing is left', async () => {
    const gate = stage.startGate({ threshold: 'p95 < 1ms' })
    await stage.atWork(1)
    const result = await stage.result(gate)
    expect(result).toMatchObject({ code: 1, verdict: 'failed', samples: stage.target.hits() })
    expect(await stage.leftBehind()).toEqual([])
  })

  test('Ctrl-C ends the load, and nothing is left', async () => {
    const gate = stage.startGate({ durationSec: 120 })
    await stage.atWork(1)
    gate.child.kill('SIGINT')
    const result = await stage.result(gate)
    expect(result).toMatchObject({ code: 130, verdict: 'cancelled' })
    expect(await stage.leftBehind()).toEqual([])
  })
})
