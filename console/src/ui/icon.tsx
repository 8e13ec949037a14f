/** Paths on a grid of 16 units, drawn as lines. */
const paths = {
  chat: 'M2.5 3.5h11v7.5h-7l-3 2.5V11h-1z',
  inbox: 'M2.5 8.5 4.5 3h7l2 5.5V13h-11zM2.5 8.5h3.2l.8 1.8h3l.8-1.8h3.2',
  book: 'M8 4C6.5 3 4.5 2.8 2.5 3v9.5c2-.2 4 0 5.5 1 1.5-1 3.5-1.2 5.5-1V3C11.5 2.8 9.5 3 8 4zM8 4v9.5',
  database:
    'M3 4c0-1 2.2-1.8 5-1.8S13 3 13 4s-2.2 1.8-5 1.8S3 5 3 4zM3 4v8c0 1 2.2 1.8 5 1.8s5-.8 5-1.8V4M3 8c0 1 2.2 1.8 5 1.8s5-.8 5-1.8',
  people:
    'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM1.8 13.2c0-2.3 1.9-3.9 4.2-3.9s4.2 1.6 4.2 3.9M10.5 3.2a2.2 2.2 0 0 1 0 4.2M12 9.7c1.400.6 2.200 1.900 2.200 3.500',
  tool: 'M2.500 13.500 9 7M8 3l5 5M10.500 2.500l3 3-1.800 1.800-3-3z',
  flow: 'M2.500 2.500h3.500v3.500h-3.500zM10 10h3.500v3.500h-3.500zM4.250 6v3.500a2.250 2.250 0 0 0 2.250 2.250H10',
  calendar: 'M2.500 3.500h11v10h-11zM2.500 6.500h11M5.500 2v3M10.500 2v3',
  browser: 'M2 3h12v10H2zM2 6h12M4 4.500h.1M5.800 4.500h.1',
  card: 'M2 3.500h12v9H2zM2 6.500h12M4.500 10h2.500',
  gear: 'M8 5.800a2.200 2.200 0 1 0 0 4.400 2.200 2.200 0 0 0 0-4.400zM8 2v1.800M8 12.200V14M2 8h1.800M12.200 8H14M3.800 3.800l1.200 1.200M11 11l1.200 1.200M12.200 3.800 11 5M5 11l-1.200 1.200',
  home: 'M2.500 7.500 8 3l5.500 4.500M4 6.500V13h8V6.500',
  agents: 'M3.500 6h9v7h-9zM8 6V3.500M8 3.500h.1M6 9.200v.6M10 9.200v.6',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.600 10.600 14 14',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.500 6.500 12 13 4.500',
  menu: 'M2.500 4.500h11M2.500 8h11M2.500 11.500h11',
  more: 'M3.500 8h.1M8 8h.1M12.500 8h.1',
  down: 'M4 6.500 8 10.500l4-4',
  up: 'M8 13V3M4 7l4-4 4 4',
  next: 'M6 3.500 10.500 8 6 12.500',
  previous: 'M10 3.500 5.500 8l4.500 4.500',
  updown: 'M5 6.500 8 3.500l3 3M5 9.500l3 3 3-3',
  play: 'M5 3.500v9l7-4.500z',
  pause: 'M5.500 3.500v9M10.500 3.500v9',
  stop: 'M4 4h8v8H4z',
  trash: 'M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500l.5 8.500h6l.5-8.500',
  edit: 'M3 13l.6-2.800L10.500 3.300l2.200 2.200-6.900 6.900zM9 4.800 11.200 7',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  upload: 'M8 10.500V3M5 6l3-3 3 3M3 10.500V13h10v-2.500',
  download: 'M8 3v7.500M5 7.500l3 3 3-3M3 11.500V13h10v-1.500',
  file: 'M4 2.500h5l3 3v8H4zM9 2.500v3h3',
  link: 'M6.500 9.500l3-3M7 5l1.500-1.500a2.500 2.500 0 0 1 3.500 3.500L10.500 8.500M9 11l-1.500 1.500A2.500 2.500 0 0 1 4 9l1.500-1.500',
  key: 'M10.500 8.500a3 3 0 1 0-2.800-2L2.500 11.500v2h2v-1.500H6v-1.500h1.500l1-1.200',
  refresh: 'M13 8a5 5 0 1 1-1.500-3.500L13 6M13 2.800V6H9.800',
  warning: 'M8 2.500 14.500 13.500h-13zM8 6.500v3.500M8 11.800h.1',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.500V11M8 5.200h.1',
  appearance:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 2v12M8 4.500h3.500M8 7.200h4.800M8 9.900h4.500M8 12.500h2',
  send: 'M2.500 7.500 13.500 3 9.500 13.500 7.200 9zM7.200 9 13.500 3',
  globe:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c3.500 3.500 3.500 8.500 0 12M8 2C4.500 5.500 4.500 10.500 8 14',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.800V8l2.300 1.500',
  bell: 'M4 11V7.500a4 4 0 0 1 8 0V11l1 1H3zM6.800 14h2.400',
  hook: 'M8 2.500v5a3.500 3.500 0 1 1-3.500 3.500',
  shield: 'M8 2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
} as const
export type IconName = keyof typeof paths

/** A drawing that says nothing by itself: the word stands beside it, or in the label of what it is in. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}
