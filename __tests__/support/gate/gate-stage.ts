import { afterEach, beforeEach } from '@jest/globals'
import { ArtifactService } from '../step/artifact-service.js'
import { FakeService } from '../fake-service.js'
import { Step } from '../step/step.js'
import type { StepResult } from '../step/step.js'

export const GRID =
  '- { region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }'

export interface Stage {
  service: FakeService
  artifacts: ArtifactService
  step: Step
  artifactOf(result: StepResult): Map<string, Buffer>
}

/** A service, an artifact store and a step that would pass, fresh for each test of the file. */
export function setStage(): Stage {
  const stage = {
    artifactOf: (result: StepResult) =>
      stage.artifacts.artifacts.get(`loadgate-${result.outputs['run-id'] ?? ''}`) ?? new Map<string, Buffer>()
  } as Stage
  beforeEach(async () => {
    stage.service = await new FakeService().start()
    stage.artifacts = await new ArtifactService().start()
    stage.step = new Step()
    stage.step.env = { ...stage.artifacts.env }
    stage.step.inputs = {
      'base-url': stage.service.url,
      token: stage.service.token,
      files: 'plan.jmx',
      grids: GRID,
      thresholds: 'apdex >= 0.85',
      'poll-interval': '1s'
    }
  })
  afterEach(async () => {
    await stage.service.stop()
    await stage.artifacts.stop()
    stage.step.remove()
  })
  return stage
}
