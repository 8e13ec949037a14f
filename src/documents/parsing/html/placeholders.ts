/** Signs of a page that scripts have yet to write. Also used in a browser's documents, by its source. */

/** "Loading", "please wait" and the like, in lower case. */
const phrases = [
  'loading|(?:please|kindly) wait|one moment|just a (?:moment|second|sec)|hold on|hang on|fetching|initiali[sz]ing|getting things ready',
  'l[äa]dt|laden|lade|wird geladen|bitte warten|einen moment|moment bitte|bezig met laden|even geduld|een ogenblik',
  'chargement|veuillez patienter|un instant|cargando|espere|espera|un momento|carregando|a carregar|aguarde|carregant',
  'caricamento|attendere|attendi|se încarcă|se incarca|așteptați|kargatzen|duke u ngarkuar',
  'laddar|läser in|vänta|indlæser|henter|vent venligst|vennligst vent|laster|lastar|hleður|ladataan|odota|laadimine|laeb|palun oota',
  'ładowanie|wczytywanie|proszę czekać|načítání|načítám|načítava(?:m|nie|nia)|čekejte|čakajte|betöltés|kérem,? várjon|kis türelmet',
  'učitavanje|učitava se|pričekajte|sačekajte|nalaganje|počakajte|ielādē|lūdzu,? uzgaidiet|kraunama|įkeliama|palaukite',
  'загрузка|загружа(?:ется|ем)|подождите|завантаження|завантажу(?:ється|ємо)|зачекайте|пачакайце|зареждане|моля,? изчакайте',
  'учитавање|учитава се|сачекајте|се вчитува|φόρτωση|φορτώνει|παρακαλώ περιμένετε|yükleniyor|lütfen bekleyin|yüklənir|жүктелуде|юкланмоқда',
  'جار[ٍي]? (?:ال)?تحميل|يرجى الانتظار|الرجاء الانتظار|در حال بارگ[ذز]اری|لطف[اً]+ صبر کنید|لوڈ ہو رہا ہے|טוען|בטעינה|אנא המת[ןי]|נא להמתין',
  'लोड हो रहा है|लोड होत आहे|कृपया प्रतीक्षा करें|লোড হচ্ছে|ஏற்றுகிறது|లోడ్ అవుతోంది|กำลังโหลด|โปรดรอ|กรุณารอ',
  'đang tải|vui lòng (?:chờ|đợi)|memuat(?:kan)?|harap tunggu|mohon tunggu|sila tunggu|naglo-?load|inapakia|tafadhali subiri',
  '(?:加载|加載|载入|載入|读取|讀取)中|正在(?:加载|加載|载入|載入|读取|讀取)|请稍(?:候|等|后)|請稍(?:候|等|後)',
  '読み?込み?中|読み込んでいます|ロード中|ローディング|お待ちください|お待ち下さい|로딩(?: ?중)?|로드 ?중|불러오는 ?중|불러오고|기다려 ?주세요',
].join('|')

/** Max characters of such a line: longer ones say more. */
export const longestLine = 100
/** Matches a line of text, in lower case, trimmed and no longer than that, that only announces content. */
export const loadingLine = new RegExp(
  `^(?:.{0,30}(?:${phrases}).{0,30}(?:…|⋯|\\.{2,}|。{2,})|\\P{L}*(?:${phrases})中?\\P{L}*)$`,
  'u',
)

/** Matches classes and ids, separated by blanks, of skeletons and spinners. */
export const busyName =
  /^(?!.*lazy).*(?:(?:^|[^a-zA-Z])(?:skeleton|shimmer|spinner|(?:pre)?loader|loading)|Skeleton|Shimmer|Spinner|Loader|Loading)s?(?![a-z])/s

/** Usual ids of elements for the output of scripts. */
export const mountIds = new Set(
  'root app main content container page wrapper mount application view __next __nuxt ___gatsby svelte react-root app-root vue-app'.split(
    ' ',
  ),
)
export const mountNames = new Set(['app-root', 'main', 'router-outlet'])

/** Elements whose text is about a whole site rather than about one page. */
export const besides = new Set(['a', 'nav', 'header', 'footer', 'button'])

/** Min characters of a written page, even if parts of it are to come. */
export const someText = 1000
