import { find } from './elements.js'

/**
 * Stays open to the page's own service. Each event holds all there is to know, so nothing is lost with a connection; the
 * browser connects again by itself, and the reader is told in the meantime. `take` says whether that was the last event.
 */
export function follow(path: string, take: (data: string) => boolean): void {
  const words = find('connection', HTMLElement)
  const source = new EventSource(path)
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    words.textContent = ''
    if (take(data)) source.close()
  })
  source.addEventListener('error', () => {
    words.textContent =
      source.readyState === EventSource.CLOSED
        ? 'The service does not answer this page any more; load it again.'
        : 'Connection lost, trying again…'
  })
}
