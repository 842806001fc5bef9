const NUMBERS = [
  ...['FLOOD_GRID_INDEX', 'FLOOD_GRID_NODE_SEQUENCE_ID', 'FLOOD_GRID_SEQUENCE_ID', 'FLOOD_GRID_SQEUENCE_ID'],
  ...['FLOOD_NODE_INDEX', 'FLOOD_PROJECT_ID', 'FLOOD_ACCOUNT_ID', 'FLOOD_SEQUENCE_ID']
]

/** Enough for the users of one node. */
const SEQUENCES_OF_A_NODE = 10_000

/** `ENV` as a script imports it: what is a number there is a number. */
export function createEnv(env: NodeJS.ProcessEnv, browserId: number): Record<string, unknown> {
  const nodesBefore = Number(env.FLOOD_GRID_NODE_SEQUENCE_ID ?? 1) - 1
  return {
    ...env,
    ...Object.fromEntries(NUMBERS.map((name) => [name, Number(env[name] ?? 0)])),
    FLOOD_GRID_REGION: env.FLOOD_GRID_REGION ?? 'local',
    FLOOD_LOAD_TEST: true,
    BROWSER_ID: browserId,
    // Scripts expect it to be unique among all nodes.
    SEQUENCE: nodesBefore * SEQUENCES_OF_A_NODE + browserId
  }
}
