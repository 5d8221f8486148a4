/**
 * The libraries of GCC that Node is linked with. A minimal Debian has no libatomic, and a system with glibc alone has
 * none of the three. They come from the build machine, in two folders: the libraries for an older glibc may load where
 * the others would not.
 */
import { realpathSync } from 'node:fs';
import path from 'node:path';

/** `file`: on this machine; `place`: in the archive. */
export type Bundled = {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly place: string;
};

const FOLDERS: Readonly<Record<string, string>> = {
  'libatomic.so.1': 'lib/atomic',
  'libstdc++.so.6': 'lib/gcc',
  'libgcc_s.so.1': 'lib/gcc',
};

/** The list is read from this process, which runs on that Node. The version is in the target of the library's link. */
export function gccLibraries(): readonly Bundled[] {
  const report = process.report.getReport() as { readonly sharedObjects: readonly string[] };
  return Object.entries(FOLDERS).map(([name, folder]) => {
    const loaded = report.sharedObjects.find((one) => path.basename(one) === name);
    if (loaded === undefined) throw new Error(`This Node runs without ${name}; the archive was to bring it.`);
    const file = realpathSync(loaded);
    return { name, version: /\.so\.([\d.]+)$/.exec(file)![1]!, file, place: `${folder}/${name}` };
  });
}
