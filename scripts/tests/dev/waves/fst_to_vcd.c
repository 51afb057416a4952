// The values of an FST waveform as VCD on stdout, by the library that Verilator has with it.
#include "fstapi.h"

int main(int argc, char **argv) {
  fstReaderContext *wave = argc == 2 ? fstReaderOpen(argv[1]) : NULL;
  if (!wave || !fstReaderProcessHier(wave, stdout)) return 1;
  fstReaderSetFacProcessMaskAll(wave);
  fstReaderIterBlocks(wave, NULL, NULL, stdout);
  fstReaderClose(wave);
  return 0;
}
