import { describe, expect, test } from '@jest/globals'
import type { ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { json, sampleCsv } from '../support/fake-service.js'
import type { Fault } from '../support/fake-service.js'
import { onStage, testOnStage } from '../support/gate/gate-stage.js'
import type { Stage } from '../support/gate/gate-stage.js'

/** Answers the creation itself, once; the run is made. */
function answerCreation(stage: Stage, answer: (response: ServerResponse) => void): void {
  let isDone = false
  stage.service.faults.push((seen, response) => {
    if (isDone || seen.method !== 'POST') return false
    isDone = true
    stage.service.createRun(seen.params.run as Record<string, unknown>)
    answer(response)
    return true
  })
}

/** Changes the documents of the service before they are sent. */
function changing(path: RegExp, change: (document: Record<string, unknown>) => unknown): Fault {
  return (seen, response) => {
    const end = response.end.bind(response) as (text: string) => ServerResponse
    const changed = (text: string): ServerResponse =>
      end(path.test(seen.path) ? JSON.stringify(change(JSON.parse(text) as Record<string, unknown>)) : text)
    Object.assign(response, { end: changed })
    return false
  }
}

function statuses(stage: Stage): (string | undefined)[] {
  return stage.service.runList.map((run) => run.statuses.at(-1))
}

describe('one run, ours', () => {
  test.concurrent.each([
    ['302', (response: ServerResponse) => response.writeHead(302, { location: '/sign_in' }).end()],
    ['303', (response: ServerResponse) => response.writeHead(303, { location: '/api/runs/x' }).end()],
    ['204', (response: ServerResponse) => response.writeHead(204).end()]
  ])('%s after the creation: the run is found by its tag, and there is no second one', (_, answer) =>
    onStage(async (stage) => {
      answerCreation(stage, answer)
      const result = await stage.step.main()
      expect(result.outputs).toMatchObject({ verdict: 'passed', 'run-id': stage.service.runList[0]!.uuid })
      expect(stage.service.runs.size).toBe(1)
      expect(result.log).toContain('Looking for the run by its tag')
    })()
  )

  testOnStage('a host that becomes unreachable while its answer is read: no second run', async (stage) => {
    answerCreation(stage, (response) => response.writeProcessing())
    stage.step.env.NODE_OPTIONS = `--require ${resolve('__tests__/support/unreachable-while-reading.cjs')}`
    const result = await stage.step.main()
    expect(result.log).toContain('EHOSTUNREACH')
    expect(result.outputs.verdict).toBe('passed')
    expect(stage.service.runs.size).toBe(1)
    expect(stage.service.calls('POST', /runs/)).toHaveLength(1)
  })

  testOnStage('a connection that was never made is tried again', async (stage) => {
    await stage.service.stop()
    const main = stage.step.start('main')
    const ended = stage.step.result(main)
    let log = ''
    main.stdout?.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (log.includes('Nothing was created; retrying')) main.kill('SIGKILL')
    })
    expect((await ended).log).toMatch(/refused the connection.*Nothing was created; retrying/)
  })

  testOnStage(
    'a list that names our run twice, beside odd runs of others, does not make the gate stop it',
    async (stage) => {
      stage.service.addRun({ uuid: 'theirs', statuses: ['running'] })
      stage.service.statuses = ['running', 'running', 'finished']
      answerCreation(stage, (response) => void response.destroy())
      stage.service.faults.push(
        changing(/\/api\/runs$/, (document) => {
          const { runs = [] } = (document._embedded ?? {}) as { runs?: Record<string, unknown>[] }
          const odd = { ...runs.at(-1), duration: 0.5, _embedded: { run_files: [{}] } }
          return { ...document, _embedded: { runs: [null, odd, ...runs, ...runs] } }
        })
      )
      const result = await stage.step.main()
      expect(result.outputs.verdict).toBe('passed')
      expect(stage.service.calls('GET', /stop/)).toEqual([])
      expect(statuses(stage)).toEqual(['running', 'finished'])
    }
  )

  testOnStage('a single 404 in the middle of the watch ends neither the gate nor the run', async (stage) => {
    stage.service.statuses = ['queued', 'running', 'running', 'finished']
    let looks = 0
    stage.service.faults.push((seen, response) => {
      if (!/\/api\/runs\/\w+$/.test(seen.path) || ++looks !== 2) return false
      response.writeHead(404, { 'content-type': 'text/plain' }).end('default backend - 404')
      return true
    })
    const result = await stage.step.main()
    expect(result.outputs.verdict).toBe('passed')
    expect(stage.service.calls('GET', /stop/)).toEqual([])
  })

  testOnStage(
    'a stop that is refused since the run has just ended: what it brought is in the artifact',
    async (stage) => {
      stage.service.statuses = ['running']
      stage.step.inputs.timeout = '5s'
      stage.service.faults.push((seen, response) => {
        if (!seen.path.endsWith('/stop')) return false
        for (const run of stage.service.runList) run.statuses = ['finished']
        json(response, 422, { error: 'The run has ended.' })
        return true
      })
      const result = await stage.step.main()
      expect(result.outputs.verdict).toBe('timed-out')
      expect([...stage.artifactOf(result).keys()]).toContainEqual(expect.stringMatching(/^results\/.*\.csv$/))
    }
  )
})

describe('a service that repeats the token in its successes', () => {
  test.concurrent.each([20, 21, 22])(
    'a token of %d characters is in no file, output, summary or artifact',
    (length) =>
      onStage(async (stage) => {
        const { service, step } = stage
        service.token = 'k7+/="Qz'.repeat(5).slice(0, length)
        step.inputs.token = service.token
        const basic = Buffer.from(`${service.token}:`).toString('base64')
        const said = [
          service.token,
          `Basic ${basic}`,
          encodeURIComponent(service.token),
          encodeURIComponent(basic)
        ]
        service.summary = `debug: ${said.join(' ')}`
        service.csv = () => sampleCsv({ label: `"${said.join(' ').replaceAll('"', '""')}"` })
        service.faults.push(
          changing(/\/api\/runs(\/\w+)?$/, (document) => ({
            ...document,
            name: said[0],
            notes: said[1],
            remote_errors: [said.join(' ')],
            permalink: `https://service.example/runs/x?t=${encodeURIComponent(service.token)}`,
            tool: `jmeter ${said[1]!}`
          }))
        )
        const result = await step.main()

        expect(result.outputs['run-id']).toBe(service.runList[0]!.uuid)
        expect(result.outputs['run-url']).toBe('https://service.example/runs/x?t=***')
        const artifact = stage.artifactOf(result)
        expect([...artifact.keys()]).toContain('verdict.json')
        const secrets = [...said, basic.replace(/=+$/, ''), JSON.stringify(service.token).slice(1, -1)]
        const written = [
          step.everythingWritten(),
          ...[...artifact.values()].map((bytes) => bytes.toString('latin1'))
        ]
        for (const text of written) expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
        // It is there, and it is covered.
        expect(written.join()).toContain('debug: ***')
      })()
  )

  testOnStage('a page with the token in place of a CSV', async (stage) => {
    const { service, step } = stage
    service.csv = () => `<html><title>debug ${service.token}</title></html>`
    step.inputs.timeout = '12s'
    const result = await step.main()
    expect(result.outputs.verdict).toBe('inconclusive')
    expect(step.everythingWritten()).not.toContain(service.token)
    expect(result.log.replace(/^::add-mask::.*$/gm, '')).not.toContain(service.token)
  })
})
