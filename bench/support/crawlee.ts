/**
 * Crawls websites with Crawlee as its guide does it: parse, take title, text and links, store them. Each `POST` with the address
 * of a site is answered, once the last page is stored, with the number of pages and what that took. Crawlee keeps its queue
 * and what was found in the folder of `CRAWLEE_STORAGE_DIR`.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { CheerioCrawler, LogLevel, log } from '@crawlee/cheerio'

log.setLevel(LogLevel.ERROR)

async function crawl(address: string) {
  let pages = 0
  let milliseconds = 0
  const begun = performance.now()
  const crawler = new CheerioCrawler({
    async requestHandler({ $, request, enqueueLinks, pushData }) {
      await enqueueLinks({ strategy: 'same-origin' })
      $('script, style').remove()
      await pushData({ url: request.url, title: $('title').text(), text: $('body').text() })
      pages += 1
      // Later it only makes sure that there is no more to come.
      milliseconds = performance.now() - begun
    },
  })
  await crawler.run([address])
  return { pages, milliseconds }
}

const server = createServer(async (request, response) => {
  response.end(JSON.stringify(await crawl(await text(request))))
})
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
