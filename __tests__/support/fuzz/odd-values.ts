/** A file of this name, anywhere but in the data folder, is a way out of it. */
export const ESCAPED = 'loadgate-escaped'

/** Values that break what was not written for them. */
export const ODD_TEXTS: readonly string[] = [
  ...['', ' ', '0', '-1', '1.5', '1e9', 'NaN', 'null', 'undefined', 'true', '[object Object]', '99999999999'],
  ...[
    `../${ESCAPED}`,
    `../../../../${ESCAPED}`,
    `/tmp/${ESCAPED}`,
    `..\\${ESCAPED}`,
    '.',
    '..',
    '~',
    '/dev/full'
  ],
  ...['\u0000', 'a\u0000b', 'a\r\nX-Injected: 1', '\u{1f4a5}', '\ufeff', '\ud800', 'e\u0301', '\u202e', 'ÿ'],
  ...[
    "' OR 1=1; DROP TABLE runs;--",
    '"',
    '%',
    '_',
    '<script>alert(1)</script>',
    '${7*7}',
    '{{7*7}}',
    '$(id)'
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'x'.repeat(5000), ',,,,', 'a,b,a,b']
]

export const ODD_IDS: readonly string[] = [
  ...[
    '0',
    '1',
    '-1',
    '2',
    'x',
    'RUN0',
    'null',
    '__proto__',
    'constructor',
    '%00',
    '%2e%2e',
    '..%2f..%2fetc%2fpasswd'
  ],
  ...[
    '%ff',
    '%',
    '%2',
    'a'.repeat(300),
    encodeURIComponent('\u{1f4a5}'),
    "1'--",
    '1;2',
    '*',
    ':id',
    'events',
    'stop'
  ],
  ...[encodeURIComponent(`../../${ESCAPED}`), '00000000-0000-0000-0000-000000000000', '9007199254740993']
]

export const ODD_NUMBERS: readonly string[] = [
  ...[
    '0',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    ' 1',
    '1 ',
    '٣',
    'x',
    '',
    '01',
    '2147483647',
    '2147483648',
    '99999999999'
  ],
  ...['10001', '3600']
]

export const ODD_TYPES: readonly string[] = [
  ...[
    'multipart/form-data',
    'multipart/form-data; boundary="x x"',
    'multipart/mixed; boundary=xx',
    'text/plain'
  ],
  ...[
    'application/json; charset=utf-16',
    'application/json;;;',
    '%%%',
    '',
    'application/x-www-form-urlencoded'
  ],
  ...['application/vnd.service.v2+json', 'application/xml', 'APPLICATION/JSON', 'a'.repeat(3000)]
]

export const ODD_JSON: readonly string[] = [
  ...[
    '',
    'x',
    'null',
    '[]',
    '1',
    '"text"',
    '{',
    '{"run":null}',
    '\ufeff{}',
    `${'['.repeat(9000)}${']'.repeat(9000)}`
  ],
  ...['{"run":{"grids":[[],{},"",1,null,{"uuid":{}}]}}', '{"__proto__":{"run":1},"grid":{"constructor":[]}}'],
  ...[
    '{"run":{"tool":["jmeter"],"threads":1e99,"tag_list":{},"override_hosts":[1]}}',
    '{"grid":{"region":{}}}'
  ],
  ...['{"thresholds":null}', '{"thresholds":{}}', '{"thresholds":["p95 <"]}', '{"thresholds":[1,{},[]]}'],
  ...['{"thresholds":"p95 < 1s\\nerror_rate < 1"}', '{"thresholds":["p95 < 800ms","apdex >= 0.85"]}'],
  ...[`{"thresholds":${JSON.stringify(Array(3000).fill('p95 < 1s'))}}`, '{"token":1}', '{"token":{"a":"b"}}']
]

export const ODD_FORMS: readonly string[] = [
  ...[
    'run[grids][][a][b][]=1&run[grids][][a]=%ff',
    '%&=&[]=&[=]&run=1&run[tool]=2',
    'grid[region]=%00',
    'token='
  ],
  ...[`${'a['.repeat(900)}=1`, 'grid[stop_after]=1&'.repeat(300), 'thresholds=p95+%3C+1s', 'token=x&token=y'],
  ...[
    'token[]=1',
    `token=${'x'.repeat(20_000)}`,
    'thresholds=%0a%0a',
    'next=https%3A%2F%2Fevil.example%2F&token=x'
  ]
]

export const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ...header('accept', ['text/html', '*/*;q=nonsense,,', 'application/vnd.x+json', 'text/event-stream', '']),
  ...header('accept', ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8', 'application/json']),
  ...header('range', [
    'bytes=9-1',
    'bytes=-',
    'bytes=-5',
    'bytes=0-',
    'bytes=5-',
    'lines=1-2,3',
    'bytes=0-1,3-4'
  ]),
  ...header('if-range', ['"x', '"x"', 'W/"x"']),
  ...header('if-none-match', ['*', '"x"', '']),
  ...header('content-encoding', ['gzip', 'identity', 'br,gzip']),
  ...header('cookie', ['%=;;=', 'loadgate=x', '__Host-loadgate=x; __Host-loadgate=y', 'a'.repeat(5000)]),
  ...header('origin', ['://', 'null', 'https://evil.example', '']),
  ...header('sec-fetch-site', ['cross-site', 'same-origin', 'none']),
  ...header('x-forwarded-for', [
    '1.2.3.4',
    '::1',
    'evil, 10.0.0.1',
    `${'9.9.9.9, '.repeat(200)}x`,
    '[::1]:80'
  ]),
  ...header('x-forwarded-proto', ['https', 'http', 'gopher', 'https, http']),
  ...header('x-forwarded-host', ['evil.example', 'a\u00ffb', 'x:y:z', '"']),
  ...header('x-request-id', ['1', '../../x', 'a'.repeat(3000), '"}{"', 'x\ty']),
  ...header('expect', ['100-continue', 'nothing']),
  ...header('upgrade', ['websocket', 'h2c']),
  ...header('transfer-encoding', ['gzip', 'chunked, chunked']),
  ...header('x-http-method-override', ['DELETE']),
  ...header('if-modified-since', ['yesterday']),
  ...header('accept-encoding', ['gzip;q=0, *;q=1']),
  ...header('x-long', ['a'.repeat(7000), 'b'.repeat(20_000)]),
  ...header('authorization', [
    'Basic',
    'Basic ====',
    'Basic Og==',
    'Bearer x',
    'Digest a="b"',
    'basic  Zm9vOmJhcg=='
  ])
]

function header(name: string, values: readonly string[]): (readonly [string, string])[] {
  return values.map((value) => [name, value] as const)
}
