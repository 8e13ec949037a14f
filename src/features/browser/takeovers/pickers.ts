import type { FileChooser, Frame, Page } from 'playwright-core'
import type { Box, PopupChoices, PopupField } from '../in-page/popup-fields.ts'
import { read } from '../in-page/read.ts'
import type { BrowserSession, Tab } from '../sessions/browser-session.ts'
import type { Picker, Takeover } from '../sessions/takeover.ts'

/** Max time in which a responsive page answers, and sets a field (ms). */
const answersWithinMs = 600
const setMs = 5000
const most = { options: 2000, characters: 100 }
/** Max depth of nested frames in which a field is searched. */
const maxDepth = 5
/** Max options of a list that can be pressed in the picture. */
const maxRows = 20
/** Limits of all files that are chosen at once. */
const fileLimits = { files: 20, bytes: 10 * 1024 * 1024 }

type Point = Pick<Box, 'x' | 'y'>

/** Offers the field at the point, or else the focused one, if its choices open in a browser window. */
export async function offerField(takeover: Takeover, tab: Tab, point: Point | undefined): Promise<void> {
  const found = await findField(tab.page.mainFrame(), point)
  const choices = found && (await read(found.frame, 'popupChoices', most, answersWithinMs))
  if (found === undefined || !choices) return
  const { frame, kind, box } = found
  const { label, value, limits, options, omitted, rowHeight } = choices
  const below = box.y + box.height
  const rows = rowsOf(choices).slice(0, maxRows)
  const room = (tab.page.viewportSize()?.height ?? 720) - below
  const isAbove = rows.length * rowHeight > room && box.y > room
  const rowsFrom = isAbove ? box.y - rows.length * rowHeight : below
  const ofKind =
    kind === 'list' ? { options, omitted, rows_from: rowsFrom, row_height: rowHeight } : { value, ...limits }
  takeover.offer({
    shown: { picker: takeover.nextPicker(), pageId: tab.pageId, kind, label, box, ...ofKind },
    rowAt({ x, y }) {
      const row = Math.floor((y - rowsFrom) / rowHeight)
      const isInside = kind === 'list' && x >= box.x && x <= box.x + box.width && row in rows
      return isInside ? { option: rows[row] } : undefined
    },
    take: () => false,
    async choose({ option, value: chosen }) {
      if (option === undefined && chosen === undefined) return
      if (option !== undefined && options[option]?.disabled !== false) return
      await read(frame, 'choose', { option, value: chosen }, answersWithinMs)
    },
  })
}

/** Returns the option's number in each row; undefined for group names and disabled options. */
function rowsOf({ options }: PopupChoices): (number | undefined)[] {
  return options.flatMap(({ group, disabled }, at) => {
    const isFirst = group !== '' && group !== options[at - 1]?.group
    return [...(isFirst ? [undefined] : []), disabled ? undefined : at]
  })
}

async function findField(
  frame: Frame,
  point: Point | undefined,
  origin: Point = { x: 0, y: 0 },
  depth = 0,
): Promise<(PopupField & { frame: Frame }) | undefined> {
  const inFrame = point ? { x: point.x - origin.x, y: point.y - origin.y } : null
  const field = await read(frame, 'popupField', inFrame, answersWithinMs)
  if (field === null || depth > maxDepth) return undefined
  const box = { ...field.box, x: field.box.x + origin.x, y: field.box.y + origin.y }
  if (field.kind !== 'frame') return { frame, kind: field.kind, box }
  for (const child of frame.childFrames()) {
    const at = await (await child.frameElement()).boundingBox()
    const isIt = at !== null && Math.abs(at.x - box.x) < 1 && Math.abs(at.y - box.y) < 1
    if (isIt) return await findField(child, point, at, depth + 1)
  }
  return undefined
}

/** Offers a file choice when a page requests one, until the takeover ends. */
export function offerFiles(session: BrowserSession, takeover: Takeover): void {
  const watched = new Map<Page, () => void>()
  const watch = () => {
    for (const { page, pageId } of session.tabs) {
      if (watched.has(page)) continue
      const offer = (chooser: FileChooser) =>
        void createFilePicker(takeover, pageId, chooser).then(
          picker => session.takeover === takeover && takeover.offer(picker),
          () => {},
        )
      page.on('filechooser', offer)
      watched.set(page, () => page.off('filechooser', offer))
    }
  }
  watch()
  session.events.on('page.opened', watch)
  void takeover.ended.then(() => {
    session.events.off('page.opened', watch)
    for (const stop of watched.values()) stop()
  })
}

async function createFilePicker(takeover: Takeover, pageId: string, chooser: FileChooser): Promise<Picker> {
  const element = chooser.element()
  const accept = ((await element.getAttribute('accept')) ?? '').slice(0, 1000)
  const box = await element.boundingBox()
  const frame = await element.ownerFrame()
  // A document without an address of its own belongs to the page.
  const [host] = [frame, chooser.page()].flatMap(one => URL.parse(one?.url() ?? '')?.host || [])
  const multiple = chooser.isMultiple()
  const files: { name: string; mimeType: string; parts: Buffer[] }[] = []
  let bytes = 0
  /** True after a file over the limits: a part of the chosen files would be worse than none. */
  let isRefused = false
  return {
    shown: {
      picker: takeover.nextPicker(),
      pageId,
      kind: 'file',
      host: host ?? '',
      label: '',
      box,
      accept,
      multiple,
      max_files: multiple ? fileLimits.files : 1,
      max_bytes: fileLimits.bytes,
    },
    rowAt: () => undefined,
    take({ name, mediaType, data, isNew }) {
      const part = Buffer.from(data, 'base64')
      if (isNew) files.push({ name, mimeType: mediaType, parts: [] })
      bytes += part.length
      const isTooMuch = bytes > fileLimits.bytes || files.length > (multiple ? fileLimits.files : 1)
      isRefused ||= isTooMuch || files.length === 0
      if (!isRefused) files.at(-1)?.parts.push(part)
      return !isRefused
    },
    async choose() {
      if (isRefused || files.length === 0) return
      const whole = files.map(({ parts, ...file }) => ({ ...file, buffer: Buffer.concat(parts) }))
      await chooser.setFiles(whole, { timeout: setMs })
    },
  }
}
