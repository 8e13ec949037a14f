/** Texts in the encodings that were usual before UTF-8, none of which says which one it is in. */

interface LegacyText {
  encoding: string
  text: string
  /** A word of it. */
  word: string
  bytes: Uint8Array
}

/** In the bytes of its encoding, as `iconv` writes them. */
function legacy(encoding: string, [text, word]: [text: string, word: string], hex: string): LegacyText {
  return { encoding, text, word, bytes: Buffer.from(hex, 'hex') }
}

const lighthouse: [string, string] = ['Маяк стоит на скале, и смотритель каждую ночь зажигает лампу.', 'маяк']
const keeper: [string, string] = ['灯台の見張りは毎晩ランプに火を灯し、船を導いた。', '灯台']

export const legacyTexts: LegacyText[] = [
  legacy(
    'windows-1251',
    lighthouse,
    'cce0ffea20f1f2eee8f220ede020f1eae0ebe52c20e820f1eceef2f0e8f2e5ebfc20eae0e6e4f3fe20edeef7fc20e7e0e6e8e3e0e5f220ebe0eceff32e',
  ),
  legacy(
    'koi8-r',
    lighthouse,
    'edc1d1cb20d3d4cfc9d420cec120d3cbc1ccc52c20c920d3cdcfd4d2c9d4c5ccd820cbc1d6c4d5c020cecfded820dac1d6c9c7c1c5d420ccc1cdd0d52e',
  ),
  legacy(
    'shift_jis',
    keeper,
    '939491e482cc8ca992a382e882cd968894d383898393837682c989ce82f0939482b58141914482f093b182a282bd8142',
  ),
  legacy(
    'euc-jp',
    keeper,
    'c5f4c2e6a4ceb8abc4a5a4eaa4cfcbe8c8d5a5e9a5f3a5d7a4cbb2d0a4f2c5f4a4b7a1a2c1a5a4f2c6b3a4a4a4bfa1a3',
  ),
  legacy(
    'gb18030',
    ['港口的灯塔每天晚上都会亮起来，引导船只安全入港。', '灯塔'],
    'b8dbbfdab5c4b5c6cbfec3bfcceccdedc9cfb6bcbbe1c1c1c6f0c0b4a3acd2fdb5bcb4acd6bbb0b2c8abc8ebb8dba1a3',
  ),
  legacy(
    'big5',
    ['港口的燈塔每天晚上都會亮起來，引導船隻安全入港。', '燈塔'],
    'b4e4a466aababf4fb6f0a843a4d1b1dfa457b3a3b77cab47b05fa8d3a141a4debec9b2eeb0a6a677a5fea44ab4e4a143',
  ),
  legacy(
    'euc-kr',
    ['등대지기는 매일 밤 불을 밝혀 배들을 안내하였다.', '등대지기는'],
    'b5eeb4ebc1f6b1e2b4c220b8c5c0cf20b9e320bad2c0bb20b9e0c7f420b9e8b5e9c0bb20bec8b3bbc7cfbfb4b4d92e',
  ),
  legacy(
    'windows-1253',
    ['Ο φαροφύλακας ανάβει κάθε βράδυ το φως για τα πλοία.', 'φαροφύλακας'],
    'cf20f6e1f1eff6fdebe1eae1f220e1eddce2e5e920eadce8e520e2f1dce4f520f4ef20f6f9f220e3e9e120f4e120f0ebefdfe12e',
  ),
  legacy(
    'windows-1255',
    ['שומר המגדלור מדליק בכל לילה את האור עבור הספינות.', 'המגדלור'],
    'f9e5eef820e4eee2e3ece5f820eee3ece9f720e1ebec20ece9ece420e0fa20e4e0e5f820f2e1e5f820e4f1f4e9f0e5fa2e',
  ),
  legacy(
    'windows-1256',
    ['يضيء حارس المنارة المصباح كل ليلة من أجل السفن.', 'المنارة'],
    'edd6edc120cdc7d1d320c7e1e3e4c7d1c920c7e1e3d5c8c7cd20dfe120e1ede1c920e3e420c3cce120c7e1d3dde42e',
  ),
  legacy(
    'windows-1252',
    ['Der Leuchtturmwärter zündet jeden Abend das größte Licht an.', 'Leuchtturmwärter'],
    '446572204c65756368747475726d77e472746572207afc6e646574206a6564656e204162656e6420646173206772f6df7465204c6963687420616e2e',
  ),
  legacy(
    'windows-1250',
    ['Latarnik każdej nocy zapala światło, żeby łodzie znalazły drogę.', 'latarnik'],
    '4c617461726e696b206b61bf64656a206e6f6379207a6170616c61209c77696174b36f2c20bf65627920b36f647a6965207a6e616c617ab3792064726f67ea2e',
  ),
  legacy(
    'windows-1250',
    ['Strážce majáku každou noc rozsvěcí světlo, aby lodě našly přístav.', 'majáku'],
    '537472e19e6365206d616ae16b75206b619e646f75206e6f6320726f7a7376ec63ed207376ec746c6f2c20616279206c6f64ec206e619a6c792070f8ed737461762e',
  ),
  legacy(
    'windows-1250',
    ['A világítótorony őre minden éjjel meggyújtja a fényt a hajóknak, és ügyel a tűzre.', 'világítótorony'],
    '412076696ce167ed74f3746f726f6e7920f57265206d696e64656e20e96a6a656c206d65676779fa6a746a6120612066e96e797420612068616af36b6e616b2c20e97320fc6779656c20612074fb7a72652e',
  ),
  legacy(
    'windows-1254',
    ['Deniz feneri bekçisi her gece ışığı yakar, gemiler limanı böyle bulur.', 'bekçisi'],
    '44656e697a2066656e6572692062656be769736920686572206765636520fdfefdf0fd2079616b61722c2067656d696c6572206c696d616efd2062f6796c652062756c75722e',
  ),
  legacy(
    'windows-874',
    ['ผู้ดูแลประภาคารจุดตะเกียงทุกคืนเพื่อนำทางเรือเข้าสู่ท่าเรืออย่างปลอดภัย', 'ประภาคาร'],
    'bcd9e9b4d9e1c5bbc3d0c0d2a4d2c3a8d8b4b5d0e0a1d5c2a7b7d8a1a4d7b9e0bed7e8cdb9d3b7d2a7e0c3d7cde0a2e9d2cad9e8b7e8d2e0c3d7cdcdc2e8d2a7bbc5cdb4c0d1c2',
  ),
]

/** The same, short, and without syllables that would tell the language. */
export const shortLegacyTexts: LegacyText[] = [
  legacy('shift_jis', ['東京都千代田区', '東京都千代田区'], '938c8b9e937390e791e393638be6'),
  legacy('shift_jis', ['請求書', '請求書'], '90bf8b818f91'),
  legacy('shift_jis', ['株式会社', '株式会社'], '8a948eae89ef8ed0'),
  legacy('shift_jis', ['会議録', '会議録'], '89ef8b63985e'),
  legacy('shift_jis', ['佐藤健', '佐藤健'], '8db293a18c92'),
  legacy('euc-jp', ['東京都千代田区', '東京都千代田区'], 'c5ecb5fec5d4c0e9c2e5c5c4b6e8'),
  legacy('euc-jp', ['請求書', '請求書'], 'c0c1b5e1bdf1'),
  legacy('euc-jp', ['株式会社', '株式会社'], 'b3f4bcb0b2f1bcd2'),
  legacy('euc-jp', ['会議録', '会議録'], 'b2f1b5c4cfbf'),
  legacy('euc-jp', ['佐藤健', '佐藤健'], 'bab4c6a3b7f2'),
  legacy('gb18030', ['灯塔', '灯塔'], 'b5c6cbfe'),
  legacy('gb18030', ['电话号码', '电话号码'], 'b5e7bbb0bac5c2eb'),
  legacy('gb18030', ['请按时付款', '请按时付款'], 'c7ebb0b4cab1b8b6bfee'),
  legacy('gb18030', ['王小明', '王小明'], 'cdf5d0a1c3f7'),
  legacy('big5', ['燈塔', '燈塔'], 'bf4fb6f0'),
  legacy('big5', ['臺北市政府', '臺北市政府'], 'bb4fa55fa5abac46a9b2'),
  legacy('big5', ['電話號碼', '電話號碼'], 'b971b8dcb8b9bd58'),
  legacy('big5', ['陳小明', '陳小明'], 'b3afa470a9fa'),
  legacy('euc-kr', ['등대지기', '등대지기'], 'b5eeb4ebc1f6b1e2'),
  legacy('euc-kr', ['전화번호', '전화번호'], 'c0fcc8adb9f8c8a3'),
  legacy('euc-kr', ['서울특별시', '서울특별시'], 'bcadbfefc6afbab0bdc3'),
]
