/** The service's replies with every field its document shows, to be bent by a test. */
type Json = Record<string, unknown>

export function makeNode(changes: Json = {}): Json {
  return {
    ip: '203.0.113.7',
    url: 'http://203.0.113.7:8080',
    private_ip: '10.0.0.7',
    instance_id: 'i-07',
    chef: 'complete',
    port: 8080,
    started: '2026-03-01T10:00:00.000Z',
    state: 'running',
    ...changes
  }
}

export function makeGrid(changes: Json = {}): Json {
  return {
    _links: { self: { href: '/api/grids/grid1' } },
    uuid: 'grid1',
    batch_id: 'batch1',
    name: 'brisk-otter-grid1',
    region: 'us-east-1',
    origin: 'N. Virginia',
    instance_quantity: 2,
    instance_type: 'm5.large',
    infrastructure: 'demand',
    stop_after: 60,
    status: 'starting',
    nodes: [makeNode()],
    ...changes
  }
}

export function makeRun(changes: Json = {}): Json {
  return {
    _links: { self: { href: '/api/runs/run1' } },
    uuid: 'run1',
    batch_id: 'batch1',
    apdex: '0.83 [3000]',
    tool: 'jmeter-5.6.3',
    name: 'Shop',
    notes: 'nightly',
    threads: 50,
    rampup: 30,
    duration: 600,
    tag_list: ['nightly', 'shop'],
    status: 'finished',
    permalink: 'https://service.example/runs/run1',
    remote_errors: null,
    started: '2026-03-01T10:00:00.000Z',
    stopped: '2026-03-01T10:10:00.500Z',
    _embedded: {
      grids: [makeGrid()],
      files: [{ name: 'plan.jmx', href: 'https://service.example/files/1' }],
      results: [
        {
          name: 'result.csv',
          region: 'us-east-1',
          href: 'https://service.example/runs/run1/result.csv?grid_id=grid1'
        }
      ],
      archives: []
    },
    ...changes
  }
}

export function makeRunList(changes: Json = {}): Json {
  return {
    _links: {
      self: { href: '/api/runs?page=1' },
      last: { href: '/api/runs?page=3' },
      next: { href: '/api/runs?page=2' }
    },
    total: 101,
    _embedded: { runs: [makeRun({ _embedded: { run_files: [{ uuid: 'file1', name: 'plan.jmx' }] } })] },
    ...changes
  }
}

export function makeUser(changes: Json = {}): Json {
  return {
    _links: { self: { href: '/api/users/7' }, account: { href: '/api/account' } },
    id: 7,
    email: 'dev@shop.example',
    authentication_token: 'the-users-own-token',
    sign_in_count: 12,
    current_sign_in_at: '2026-03-01T10:00:00.000Z',
    last_sign_in_at: '2026-02-01T10:00:00.000Z',
    created_at: '2025-01-01T10:00:00.000Z',
    ...changes
  }
}

export function makeAccount(changes: Json = {}): Json {
  return {
    _links: { self: { href: '/api/account' } },
    email: 'team@shop.example',
    _embedded: {
      users: [makeUser()],
      credentials: [
        { id: 3, provider: 'aws', description: 'main', arn: 'arn:aws:iam::1:role/x', access_key_id: null }
      ]
    },
    ...changes
  }
}
