import { expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { cpuMs } from "../../test/support/cpu.ts";
import { objectStream, samplePdf } from "./pdf.fixtures.ts";
import { pdfPages } from "./pdf-pages.ts";

const OBJECTS = deflateSync(Buffer.from("<</Type/Page/Parent 2 0 R>><</Type /Page>><</Type/Pages/Count 2>>"));

test("page objects are counted in plain and in compressed streams", () => {
  for (const packed of [false, true])
    for (const pages of [1, 2, 600]) expect(pdfPages(samplePdf({ pages, packed }))).toBe(pages);
  const twice = Buffer.concat([samplePdf({ pages: 3 }), objectStream(OBJECTS), objectStream(OBJECTS)]);
  expect(pdfPages(twice)).toBe(7);
  expect(pdfPages(objectStream(OBJECTS, "/Filter [ /FlateDecode ] /DecodeParms << /Predictor 1 >>"))).toBe(2);
  expect(pdfPages(objectStream(Buffer.from("<</Type/Page>>"), ""))).toBe(1);
});

test("nothing else counts as a page: the page tree, a template, a name with the same beginning", () => {
  const names = ["/Type /Pages", "/Type /PageLabel", "/Type/Page.x", "/Type /Template", "/Page /Type"];
  for (const name of names)
    expect([name, pdfPages(Buffer.from(`%PDF-1.4 << ${name} >>`))]).toEqual([name, null]);
});

test("a document whose pages cannot be counted has no page count, rather than a small one", () => {
  const open = samplePdf({ pages: 2 });
  const hidden = [
    objectStream(Buffer.from("encrypted")),
    objectStream(OBJECTS, "/Filter /LZWDecode"),
    objectStream(OBJECTS, "/Filter [/ASCII85Decode /FlateDecode]"),
    objectStream(OBJECTS, "/Filter /FlateDecode /DecodeParms << /Predictor 12 >>"),
    Buffer.from("<< /Type /ObjStm >> stream\nwithout an end"),
    Buffer.from("<< /Type /ObjStm >> and no stream"),
  ];
  for (const stream of hidden) expect(pdfPages(Buffer.concat([open, stream]))).toBeNull();
  expect(pdfPages(Buffer.from("%PDF-1.7 but nothing of it"))).toBeNull();
});

test("a stream that inflates to many times its size is not inflated: the work is bounded by the bytes sent", () => {
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024));
  expect(pdfPages(Buffer.concat([samplePdf(), objectStream(bomb)]))).toBeNull();
  const share = objectStream(deflateSync(Buffer.alloc(60 * 1024)));
  expect(pdfPages(Buffer.concat([samplePdf(), share]))).toBe(1);
  expect(pdfPages(Buffer.concat([samplePdf(), share, share]))).toBeNull();
  expect(pdfPages(Buffer.concat([samplePdf(), share, share, Buffer.alloc(8 * 1024, " ")]))).toBe(1);
});

test("any bytes give a number or none, in time proportional to their length", () => {
  const words = [
    "/Type",
    " ",
    "/Page",
    "/ObjStm",
    "stream\n",
    "endstream",
    "obj",
    "/Filter/FlateDecode",
    "<<",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words)), (parts) => {
      const pages = pdfPages(Buffer.from(parts.join("")));
      expect(pages === null || pages > 0).toBe(true);
    }),
  );
  for (const unit of [
    "/Type/ObjStm ",
    "/Type/ObjStm stream\n",
    "/Type/ObjStm stream\nendstream ",
    "/Type    ",
  ]) {
    const startedAtMs = cpuMs();
    pdfPages(Buffer.alloc(4 * 1024 * 1024, unit));
    expect(cpuMs() - startedAtMs).toBeLessThan(2_000);
  }
});
