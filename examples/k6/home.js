import http from 'k6/http'

const shop = `http://${__ENV.HOST || '127.0.0.1'}:${__ENV.PORT || 8080}`

export const options = {
  vus: 2,
  duration: '5s',
  thresholds: { http_req_failed: ['rate<0.01'] }
}

/** A script that needs no other file: `k6 run examples/k6/home.js`. */
export default function () {
  http.get(`${shop}/`, { tags: { name: 'home' } })
}
