import { check, sleep } from 'k6'
import http from 'k6/http'
import { SharedArray } from 'k6/data'

// The inputs threads and duration arrive as --vus and --duration, and as __ENV.THREADS and __ENV.DURATION for scripts with scenarios of
// their own; override-parameters such as -Jport=8080 as __ENV.PORT.
const shop = `http://${__ENV.HOST || '127.0.0.1'}:${__ENV.PORT || 8080}`
const think = Number(__ENV.THINK || 50) / 1000

/** Is next to the script when it runs, wherever it is in the repository. */
const users = new SharedArray('users', () => {
  const [header, ...rows] = open('./users.csv').trim().split(/\r?\n/)
  const names = header.split(',')
  return rows.map((row) => Object.fromEntries(row.split(',').map((value, i) => [names[i], value])))
})

export const options = {
  // Lines of their own in the gate's table, beside the thresholds in loadgate.yml.
  thresholds: { checks: ['rate>0.99'] }
}

/** Users of the demo shop, each of whom looks around and buys something, again and again. */
export default function () {
  const { user, term, product } = users[(__VU + __ITER) % users.length]
  const home = http.get(`${shop}/`, { tags: { name: 'home' } })
  check(home, { 'the shop is open': ({ body }) => body.includes('Welcome to the shop') })
  sleep(think)
  http.get(`${shop}/search?q=${encodeURIComponent(term)}`, { tags: { name: 'search' } })
  sleep(think)
  http.get(`${shop}/products/${product}`, { tags: { name: 'product' } })
  sleep(think)
  const bought = http.post(`${shop}/checkout`, { user }, { tags: { name: 'checkout' } })
  check(bought, { 'something was bought': ({ body }) => body.includes('Thank you') })
  sleep(think)
}
