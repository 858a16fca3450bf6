// Bundles the page: node build.mjs PAGE.html [PAGE.c]
// The second file is the first as an array of bytes, for the command.
import { build } from 'esbuild';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [htmlPath, cPath] = process.argv.slice(2);
if (htmlPath === undefined) {
  console.error('usage: node build.mjs PAGE.html [PAGE.c]');
  process.exit(2);
}

const bundle = (entry, options) =>
  build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    legalComments: 'none',
    ...options,
  }).then((result) => result.outputFiles[0].text);

const script = await bundle('src/main.js', { format: 'iife', target: 'es2022' });
const style = await bundle('src/style.css', { loader: { '.css': 'css' } });
const licences = await Promise.all(
  ['three', 'uplot'].map(async (name) => {
    const folder = join(here, 'node_modules', name);
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    return `${name} ${version}\n${await readFile(join(folder, 'LICENSE'), 'utf8')}`;
  }),
);

// `</script` may not appear inside a script; in JavaScript's strings `<\/script` means the same.
const parts = {
  licences: licences.join('\n').replaceAll('--', '- -'),
  style,
  script: script.replace(/<\/(script)/gi, '<\\/$1'),
};
const template = await readFile(join(here, 'src/page.html'), 'utf8');
const html = template.replace(/\{\{(\w+)\}\}/g, (all, name) => parts[name] ?? all);
await writeFile(htmlPath, html);

if (cPath !== undefined) {
  const bytes = Buffer.from(html);
  const lines = [];
  for (let i = 0; i < bytes.length; i += 24) {
    lines.push(bytes.subarray(i, i + 24).join(','));
  }
  await writeFile(
    cPath,
    `// Made by viewer/build.mjs.\n#include "app/page.h"\n` +
      `const unsigned char PAGE_TEMPLATE[] = {\n${lines.join(',\n')}};\n` +
      `const size_t PAGE_TEMPLATE_SIZE = sizeof PAGE_TEMPLATE;\n`,
  );
}
