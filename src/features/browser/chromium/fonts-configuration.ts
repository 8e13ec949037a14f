/** Substitutes of font families that pages name and the system lacks. */
const standIns = {
  'sans-serif': ['Open Sans', 'DejaVu Sans'],
  serif: ['DejaVu Serif'],
  monospace: ['DejaVu Sans Mono'],
  emoji: ['Noto Color Emoji'],
}

/** Returns a `fonts.conf`: the system's fonts, then those in this folder, which contains a folder `cache`. */
export function fontsConfiguration(folder: string): string {
  const aliases = Object.entries(standIns).map(
    ([family, names]) =>
      `<alias><family>${family}</family><prefer>${names.map(name => `<family>${name}</family>`).join('')}</prefer></alias>`,
  )
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>/usr/share/fonts</dir>
<dir>/usr/local/share/fonts</dir>
<dir>${folder}</dir>
<cachedir>${folder}/cache</cachedir>
${aliases.join('\n')}
</fontconfig>
`
}
