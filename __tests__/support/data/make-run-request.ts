import type { GridSpecification, RunRequest } from '../../../src/client/documents/requests.js'

export function makeGridSpecification(changes: Partial<GridSpecification> = {}): GridSpecification {
  return {
    infrastructure: 'demand',
    region: 'us-east-1',
    nodeCount: 2,
    instanceType: 'm5.large',
    stopAfterMinutes: 60,
    options: {},
    ...changes
  }
}

export function makeRunRequest(changes: Partial<RunRequest> = {}): RunRequest {
  return {
    tool: 'jmeter',
    files: [],
    grids: [makeGridSpecification()],
    name: 'Shop',
    tags: [],
    privacy: 'private',
    ...changes
  }
}
