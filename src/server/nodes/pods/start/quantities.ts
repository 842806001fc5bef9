const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60
}

/** The number that a quantity of Kubernetes stands for: `500m` is 0.5, `8Gi` is 8589934592; undefined for anything else. */
export function parseQuantity(text: string): number | undefined {
  const parts = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(text)
  const factor = FACTORS[parts?.[2] ?? '']
  return parts === null || factor === undefined ? undefined : Number(parts[1]) * factor
}
