import { describe, expect } from '@jest/globals'
import { GRID, testOnStage } from '../../support/gate/gate-stage.js'
import { commandsIn } from '../../support/step/runner-commands.js'

describe('a gate on a run that is there', () => {
  testOnStage('waits for it, creates nothing and stops nothing', async (stage) => {
    const run = stage.service.addRun()
    stage.step.inputs = {
      'base-url': `${stage.service.url}/api`,
      token: stage.service.token,
      'run-id': run.uuid,
      thresholds: 'apdex > 0.9',
      'poll-interval': '1'
    }

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(result.outputs).toMatchObject({ 'run-id': run.uuid, verdict: 'passed' })
    expect(stage.service.calls('POST', /./)).toHaveLength(0)
    expect(stage.service.calls('GET', /stop/)).toHaveLength(0)
  })

  testOnStage('does not stop it on timeout either', async (stage) => {
    const run = stage.service.addRun({ statuses: ['running'] })
    stage.step.inputs = {
      'base-url': stage.service.url,
      token: stage.service.token,
      'run-id': run.uuid,
      timeout: '2s',
      'poll-interval': '1'
    }

    const result = await stage.step.main()
    const post = await stage.step.post()

    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('timed-out')
    expect(post.code).toBe(0)
    expect(stage.service.calls('GET', /stop/)).toHaveLength(0)
  })

  testOnStage('repeats one', async (stage) => {
    const run = stage.service.addRun({ statuses: ['finished'] })
    stage.step.inputs = {
      'base-url': stage.service.url,
      token: stage.service.token,
      repeat: run.uuid,
      thresholds: 'apdex > 0.9',
      'poll-interval': '1'
    }

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(stage.service.calls('GET', /repeat$/)).toHaveLength(1)
    expect(result.outputs['run-id']).not.toBe(run.uuid)
    expect(stage.service.runList).toHaveLength(2)
  })

  testOnStage('never repeats twice when the reply is lost', async (stage) => {
    const run = stage.service.addRun({ statuses: ['finished'] })
    stage.step.inputs = { 'base-url': stage.service.url, token: stage.service.token, repeat: run.uuid }
    stage.service.faults.push((seen, _response, socket) => {
      if (!seen.path.endsWith('/repeat')) return false
      socket.destroy()
      return true
    })

    const result = await stage.step.main()

    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('error')
    expect(stage.service.calls('GET', /repeat$/)).toHaveLength(1)
  })
})

describe('a run that is left to itself', () => {
  testOnStage('wait: false starts it, sets its id, and neither main nor post stops it', async (stage) => {
    stage.step.inputs.wait = 'false'
    stage.service.statuses = ['running']

    const result = await stage.step.main()
    const post = await stage.step.post()

    expect(result.code).toBe(0)
    expect(result.outputs).toMatchObject({ verdict: 'detached', 'run-id': stage.service.runList[0]!.uuid })
    expect(post.code).toBe(0)
    expect(stage.service.calls('GET', /stop/)).toHaveLength(0)
  })
})

describe('a deadline', () => {
  testOnStage('stops the run, collects what it brought, and fails as timed-out', async (stage) => {
    stage.service.statuses = ['running']
    stage.step.inputs.timeout = '2s'

    const result = await stage.step.main()

    expect(result.code).toBe(1)
    expect(result.outputs).toMatchObject({ verdict: 'timed-out', status: 'finished' })
    expect(stage.service.calls('GET', /stop$/).length).toBeGreaterThan(0)
    expect(stage.artifactOf(result).size).toBe(3)
    expect(result.log).toContain('did not end within the timeout of 2 s')
  })
})

describe('no token', () => {
  testOnStage('is a clear failure, with nothing sent', async (stage) => {
    delete stage.step.inputs.token

    const result = await stage.step.main()

    expect(result.code).toBe(1)
    expect(result.log).toContain('token: is empty')
    expect(result.outputs.verdict).toBe('error')
    expect(stage.service.seen).toHaveLength(0)
  })

  testOnStage('is skipped where the workflow says so, an empty address too', async (stage) => {
    stage.step.inputs = { files: 'plan.jmx', grids: GRID, 'on-missing-token': 'skip' }

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('skipped')
    expect(commandsIn(result.log)).toContain('notice')
    expect(result.summary).toContain('skipped')
  })
})
