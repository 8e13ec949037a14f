import { expect, it } from 'vitest'
import { busyName, loadingLine } from './placeholders.ts'

const isLoading = (line: string) => loadingLine.test(line.toLowerCase())

it.each([
  ...['Loading', 'Loading…', 'Loading...', 'LOADING', 'Loading products…', 'Please wait', 'Please wait...'],
  ...['Just a moment…', '⏳ Loading', 'Loading 42 %', 'Your data is loading…', 'Fetching results ...'],
  ...['Lädt …', 'Wird geladen…', 'Die Seite wird geladen …', 'Bitte warten', 'Laden...', 'Even geduld…'],
  ...['Chargement…', 'Chargement en cours…', 'Veuillez patienter', 'Cargando...', 'Por favor, espere…'],
  ...['Carregando…', 'Caricamento in corso…', 'Se încarcă...', 'Laddar…', 'Indlæser …', 'Ladataan...'],
  ...['Ładowanie…', 'Proszę czekać', 'Načítání…', 'Betöltés…', 'Učitavanje...', 'Загрузка…'],
  ...['Идёт загрузка…', 'Пожалуйста, подождите…', 'Завантаження…', 'Φόρτωση…', 'Yükleniyor…'],
  ...['جار التحميل…', 'در حال بارگذاری...', 'טוען…', 'लोड हो रहा है…', 'กำลังโหลด...', 'Đang tải…'],
  ...[
    'Memuat…',
    '加载中',
    '加载中...',
    '正在加载…',
    '載入中…',
    '読み込み中',
    '読み込み中です…',
    '로딩 중',
    '불러오는 중...',
  ],
])('"%s" says that something is to come', line => {
  expect(isLoading(line)).toBe(true)
})

it.each([
  ...[
    'Loading zones',
    'Loading and unloading',
    'We are loading the lorries at noon',
    'Wait for us at the gate.',
  ],
  ...['Die Ladung wiegt 3 t.', 'Laden Sie die App', 'Chargement de la batterie : 3 h', 'Cargando la batería'],
  ...['Hold on to your hats', 'Расписание', 'Загрузка вагонов по плану', '加载项列表', '읽기 목록', ''],
])('"%s" does not', line => {
  expect(isLoading(line)).toBe(false)
})

it.each([
  ...[
    'skeleton',
    'card skeleton-line',
    'MuiSkeleton-root',
    'ant-spin spinner',
    'LoadingSpinner_a1',
    'preloader',
  ],
  ...['is-loading', 'loader', 'css-1x2-Shimmer', ' loading'],
])('"%s" is a skeleton or a spinner', name => {
  expect(busyName.test(name)).toBe(true)
})

it.each(['loaded', 'content', 'lazy-loading', 'downloader', 'uploading', 'spinnerette', ''])(
  '"%s" is none',
  name => {
    expect(busyName.test(name)).toBe(false)
  },
)
