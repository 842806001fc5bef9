import { describe, expect } from '@jest/globals'
import { json } from '../../support/fake-service.js'
import { GRID, testOnStage } from '../../support/gate/gate-stage.js'
import type { Stage } from '../../support/gate/gate-stage.js'
import { commandsIn } from '../../support/step/runner-commands.js'

describe('a service that answers badly', () => {
  const refuse = (
    stage: Stage,
    method: string,
    path: RegExp,
    answer: (response: Parameters<typeof json>[0]) => void
  ): void => {
    stage.service.faults.push((seen, response) => {
      if (seen.method !== method || !path.test(seen.path)) return false
      answer(response)
      return true
    })
  }

  testOnStage('a wrong token is one clear message', async (stage) => {
    stage.step.inputs.token = 'wrong'

    const result = await stage.step.main()

    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('error')
    expect(result.log).toContain(
      '::error::Load gate error: creating the run: the service answered 401: HTTP Basic: Access denied. (request req-1). Check the token'
    )
    expect(result.log.split('::error::')).toHaveLength(2)
  })

  testOnStage('a missing run is one clear message', async (stage) => {
    stage.step.inputs = { 'base-url': stage.service.url, token: stage.service.token, 'run-id': 'nowhere' }

    const result = await stage.step.main()

    expect(result.code).toBe(1)
    expect(result.log).toContain(
      'reading run nowhere: the service answered 404: Sorry, we cannot find that resource.'
    )
  })

  testOnStage('a refused body is told in the service’s words', async (stage) => {
    refuse(stage, 'POST', /runs/, (response) =>
      json(response, 422, { errors: { name: ["can't be blank"], tool: ['is odd'] } })
    )

    const result = await stage.step.main()

    expect(result.code).toBe(1)
    expect(result.log).toContain("the service answered 422: name can't be blank; tool is odd")
    expect(stage.service.calls('POST', /runs/)).toHaveLength(1)
  })

  testOnStage(
    'an error page after nothing was made is an error that says so',
    async (stage) => {
      refuse(stage, 'POST', /runs/, (response) =>
        response
          .writeHead(502, { 'content-type': 'text/html' })
          .end('<html><title>Bad Gateway</title></html>')
      )

      const result = await stage.step.main()

      expect(result.code).toBe(1)
      expect(result.log).toContain('the service answered 502: an HTML page titled "Bad Gateway"')
      expect(result.log).toContain('One may still be running: check the service')
      expect(stage.service.calls('POST', /runs/)).toHaveLength(1)
    },
    60_000
  )

  testOnStage('a reply that is lost after the run was made leads to that very run', async (stage) => {
    let isFirst = true
    stage.service.faults.push((seen, _response, socket) => {
      if (seen.method !== 'POST' || !isFirst) return false
      isFirst = false
      stage.service.createRun(seen.params.run as Record<string, unknown>)
      socket.destroy()
      return true
    })

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
    expect(stage.service.runList).toHaveLength(1)
    expect(result.outputs['run-id']).toBe(stage.service.runList[0]!.uuid)
  })

  testOnStage('polls that fail in passing do not fail the gate', async (stage) => {
    let failures = 3
    stage.service.faults.push((seen, response, socket) => {
      if (seen.method !== 'GET' || !/runs\/[^/]+$/.test(seen.path) || failures-- <= 0) return false
      if (failures === 1) socket.destroy()
      else response.writeHead(503, { 'retry-after': '0' }).end('<html></html>')
      return true
    })

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
  })

  testOnStage(
    'JSON where the CSV was due is inconclusive, and the rest of the evidence is kept',
    async (stage) => {
      stage.step.inputs.timeout = '15s'
      stage.step.inputs.grids = `${GRID}\n${GRID.replace('us-east-1', 'eu-west-1')}`
      stage.service.faults.push((seen, response) => {
        const gridId = /grid_id=(.*)$/.exec(seen.path)?.[1]
        if (gridId === undefined || stage.service.grids.get(gridId)?.region !== 'eu-west-1') return false
        json(response, 200, { error: 'no results yet' })
        return true
      })

      const result = await stage.step.main()

      expect(result.code).toBe(1)
      expect(result.outputs.verdict).toBe('inconclusive')
      expect(result.log).toContain('expected CSV, got JSON: no results yet')
      expect(
        [...stage.artifactOf(result).keys()].filter((name) => name.startsWith('results/us-east-1'))
      ).toHaveLength(1)
      expect([...stage.artifactOf(result).keys()]).toContain('verdict.json')
      expect(result.summary).toContain('missing')
    }
  )

  testOnStage('results that become ready are waited for', async (stage) => {
    let early = 2
    refuse(stage, 'GET', /never/, () => undefined)
    stage.service.faults.push((seen, response) => {
      if (!/report$|result\.csv/.test(seen.path) || early-- <= 0) return false
      json(response, 404, { error: 'not yet' })
      return true
    })

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
  })

  testOnStage(
    'an artifact that cannot be uploaded leaves the verdict',
    async (stage) => {
      stage.artifacts.failWith = 400

      const result = await stage.step.main()

      expect(result.code).toBe(0)
      expect(result.outputs.verdict).toBe('passed')
      expect(result.outputs['artifact-id']).toBeUndefined()
      expect(result.log).toMatch(/::warning::The artifact .* could not be uploaded/)
      expect(result.summary).toContain('could not be uploaded')
    },
    60_000
  )

  testOnStage('an unknown status: still waiting, with one notice', async (stage) => {
    stage.service.statuses = ['reticulating', 'reticulating', 'finished']

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(commandsIn(result.log).filter((command) => command === 'notice')).toHaveLength(1)
  })

  testOnStage(
    'a run’s id that is no id never reaches a path or an output',
    async (stage) => {
      refuse(stage, 'POST', /runs/, (response) =>
        json(response, 201, { uuid: 'a\nb<<EOF', status: 'queued' })
      )

      const result = await stage.step.main()

      expect(result.code).toBe(1)
      expect(result.outputs['run-id']).toBeUndefined()
      expect(result.log).toContain('should be an id')
    },
    60_000
  )
})
