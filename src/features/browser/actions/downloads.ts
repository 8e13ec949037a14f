import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { CDPSession } from 'playwright-core'
import { conflict, notFound } from '#platform/errors.ts'
import { downloadFolderOf } from '../chromium/start.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'

/** A file that the browser downloaded for a page. */
export interface Download {
  id: string
  /** The site's name for the file, without characters of paths. */
  name: string
  url: string
  state: 'in_progress' | 'complete' | 'failed' | 'refused'
  /** Bytes so far. */
  size: number
  /** The reason of a failure or refusal. */
  error?: string
}

interface Begun {
  guid: string
  url: string
  suggestedFilename: string
}

interface Progress {
  guid: string
  receivedBytes: number
  totalBytes: number
  state: string
}

interface FrameTree {
  frame: { id: string }
  childFrames?: FrameTree[]
}

/** Max files of a session. */
const mostFiles = 100

/** The downloads of one session. They are files of the browser, and are deleted with the session. */
export class Downloads {
  readonly #files = new Map<string, Download>()
  readonly #reported = new Set<string>()
  readonly #maxBytes: number
  /** The session's id in its browser. */
  browserContextId: string | undefined
  readonly #folder: string
  #cancel: (guid: string) => void = () => {}
  /** Number of downloads that the session has announced, and that the browser has begun. */
  #announced = 0
  #begun = 0
  /** Resolved and replaced at each change. */
  #changed = Promise.withResolvers<void>()

  private constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /** Follows the downloads of the session from now on, up to `maxBytes` together. */
  static async follow(session: BrowserSession, maxBytes: number): Promise<Downloads> {
    const browser = session.context.browser()
    const folder = browser && downloadFolderOf(browser)
    const downloads = new Downloads(folder ?? '', maxBytes)
    if (!browser) return downloads
    const { cdp } = session.activeTab ?? (await session.openTab())
    const { targetInfo } = await cdp.send('Target.getTargetInfo')
    downloads.browserContextId = targetInfo.browserContextId
    if (session.isRemote) {
      session.events.on('download', ({ url, fileName }) => downloads.#refuseUnreadable(url, fileName))
      return downloads
    }
    session.events.on('download', () => {
      downloads.#announced += 1
    })
    const connection = await browser.newBrowserCDPSession()
    await downloads.#listen(connection, session, targetInfo.browserContextId)
    session.events.once('ended', () => void connection.detach().catch(() => {}))
    return downloads
  }

  /**
   * Returns downloads that no result has reported, or that have changed after that.
   * @param waitMs max wait for running downloads.
   * @param isExpected true if the action must lead to a download.
   */
  async news(waitMs: number, isExpected: boolean): Promise<Download[]> {
    const end = performance.now() + waitMs
    const news = () =>
      [...this.#files.values()].filter(({ id, state }) => !this.#reported.has(`${id} ${state}`))
    const isUnderWay = () => {
      const isAnnounced = this.#begun < this.#announced || (isExpected && news().length === 0)
      return isAnnounced || news().some(({ state }) => state === 'in_progress')
    }
    while (isUnderWay() && performance.now() < end) {
      const timer = Promise.withResolvers<void>()
      const timeout = setTimeout(timer.resolve, end - performance.now())
      await Promise.race([this.#changed.promise, timer.promise])
      clearTimeout(timeout)
    }
    const found = news()
    for (const { id, state } of found) this.#reported.add(`${id} ${state}`)
    return found
  }

  /** Stores a file of the service like a download, but outside of the limit. */
  async keep(name: string, content: Uint8Array): Promise<Download> {
    const file = { id: randomUUID(), name, url: '', state: 'complete' as const, size: content.length }
    await writeFile(join(this.#folder, file.id), content)
    this.#files.set(file.id, file)
    this.#reported.add(`${file.id} ${file.state}`)
    return file
  }

  /** @throws AppError NOT_FOUND, or CONFLICT while the download runs. */
  async open(id: string): Promise<{ name: string; size: number; stream: Readable }> {
    const file = this.#files.get(id)
    if (file === undefined) throw notFound('Download')
    if (file.state === 'in_progress')
      throw conflict('The file is still being downloaded. Try again in a moment.')
    if (file.state !== 'complete') throw notFound(`Download (${file.error})`)
    // A compromised browser could have replaced the file by a link to one that only this service may read.
    const handle = await open(join(this.#folder, id), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => {
      throw notFound('Download')
    })
    return { name: file.name, size: file.size, stream: handle.createReadStream() }
  }

  async #listen(
    browser: CDPSession,
    session: BrowserSession,
    browserContextId: string | undefined,
  ): Promise<void> {
    /** Downloads of the browser by id: true if one belongs to this session. */
    const begun = new Map<string, Promise<boolean>>()
    const context = browserContextId === undefined ? {} : { browserContextId }
    this.#cancel = guid => void browser.send('Browser.cancelDownload', { guid, ...context }).catch(() => {})
    const begin = ({ guid, url, suggestedFilename }: Begun) => {
      this.#begun += 1
      const name = suggestedFilename.replace(/[/\\\p{Cc}]/gu, '_').slice(-200) || 'download'
      if (this.#files.size >= mostFiles) this.#cancel(guid)
      else this.#change({ id: guid, name, url: url.slice(0, 2000), state: 'in_progress', size: 0 })
    }
    const progress = ({ guid, receivedBytes, totalBytes, state }: Progress) => {
      const file = this.#files.get(guid)
      if (file === undefined || file.state === 'refused') return
      const room = this.#maxBytes - this.#usedBeside(guid)
      if (Math.max(receivedBytes, totalBytes) > room) this.#refuse(file, room)
      else if (state === 'completed') this.#change({ ...file, size: receivedBytes, state: 'complete' })
      else if (state === 'canceled')
        this.#change({ ...file, state: 'failed', error: 'The download broke off.' })
      else this.#files.set(guid, { ...file, size: receivedBytes })
    }
    // The browser reports the downloads of all sessions.
    browser.on('Browser.downloadWillBegin', event => {
      const isOwn = isFrameOf(browser, session, event.frameId, browserContextId)
      begun.set(event.guid, isOwn)
      void isOwn.then(own => own && begin(event))
    })
    browser.on('Browser.downloadProgress', event => {
      void begun.get(event.guid)?.then(own => own && progress(event))
      if (event.state !== 'inProgress') begun.delete(event.guid)
    })
    // Repeats Playwright's setting, so that this connection gets the events, too.
    await browser.send('Browser.setDownloadBehavior', {
      behavior: 'allowAndName',
      downloadPath: this.#folder,
      eventsEnabled: true,
      ...context,
    })
  }

  #refuse(file: Download, room: number): void {
    this.#cancel(file.id)
    void rm(join(this.#folder, file.id), { force: true }).catch(() => {})
    const error = `It is larger than the ${room} bytes that are left of the ${this.#maxBytes} for the downloads of a session.`
    this.#change({ ...file, state: 'refused', error })
  }

  #refuseUnreadable(url: string, name: string): void {
    const error = 'The browser is on another machine (BROWSER_CDP_URL), so that its files cannot be read.'
    if (this.#files.size >= mostFiles) return
    this.#change({ id: randomUUID(), name, url: url.slice(0, 2000), state: 'refused', size: 0, error })
  }

  #usedBeside(id: string): number {
    const others = [...this.#files.values()].filter(file => file.id !== id && file.state !== 'refused')
    return others.reduce((bytes, { size }) => bytes + size, 0)
  }

  #change(file: Download): void {
    this.#files.set(file.id, file)
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

/** True if a frame is in a tab of the session; most are a tab's main frame, or have their own process. */
async function isFrameOf(
  browser: CDPSession,
  session: BrowserSession,
  frameId: string,
  browserContextId: string | undefined,
): Promise<boolean> {
  const { targetInfos } = await browser.send('Target.getTargets').catch(() => ({ targetInfos: [] }))
  const target = targetInfos.find(({ targetId }) => targetId === frameId)
  if (target !== undefined) return target.browserContextId === browserContextId
  const found = session.tabs.map(async ({ cdp }) => {
    const { frameTree } = await cdp.send('Page.getFrameTree')
    if (!holds(frameTree, frameId)) throw new Error('It is in another tab.')
  })
  return await Promise.any(found).then(
    () => true,
    () => false,
  )
}

function holds({ frame, childFrames = [] }: FrameTree, frameId: string): boolean {
  return frame.id === frameId || childFrames.some(child => holds(child, frameId))
}
