const NUMBERS = [
  ...['FLOOD_GRID_INDEX', 'FLOOD_GRID_NODE_SEQUENCE_ID', 'FLOOD_GRID_SEQUENCE_ID', 'FLOOD_GRID_SQEUENCE_ID'],
  ...['FLOOD_NODE_INDEX', 'FLOOD_PROJECT_ID', 'FLOOD_ACCOUNT_ID', 'FLOOD_SEQUENCE_ID']
]

/** `ENV` as a script imports it: what is a number there is a number. */
export function createEnv(env: NodeJS.ProcessEnv, browserId: number): Record<string, unknown> {
  return {
    ...env,
    ...Object.fromEntries(NUMBERS.map((name) => [name, Number(env[name] ?? 0)])),
    FLOOD_GRID_REGION: env.FLOOD_GRID_REGION ?? 'local',
    FLOOD_LOAD_TEST: true,
    BROWSER_ID: browserId,
    SEQUENCE: browserId
  }
}
