//! The header of a `.npy` file: a dictionary, as Python writes it.
//!
//! It is read by hand, since the file may come from anyone. The crate npyz, tried at 0.9.1, takes twice as long for
//! every bracket that is opened and not closed, allocates as much as a damaged length claims, panics where sizes
//! overflow, and lets keys pass that are unknown or given twice; a guard against all of this is a parser.

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    LittleF4,
    LittleF8,
    BigF4,
    BigF8,
}

impl Kind {
    /// Bytes of a number.
    pub(super) fn size(self) -> usize {
        match self {
            Kind::LittleF4 | Kind::BigF4 => 4,
            Kind::LittleF8 | Kind::BigF8 => 8,
        }
    }

    /// All numbers of the data.
    pub(super) fn decode(self, data: &[u8]) -> Vec<f64> {
        fn each<const SIZE: usize>(data: &[u8], value: impl Fn([u8; SIZE]) -> f64) -> Vec<f64> {
            data.as_chunks()
                .0
                .iter()
                .map(|&chunk| value(chunk))
                .collect()
        }
        match self {
            Kind::LittleF4 => each(data, |chunk| f32::from_le_bytes(chunk).into()),
            Kind::LittleF8 => each(data, f64::from_le_bytes),
            Kind::BigF4 => each(data, |chunk| f32::from_be_bytes(chunk).into()),
            Kind::BigF8 => each(data, f64::from_be_bytes),
        }
    }
}

/// What a file says about its data.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

impl Header {
    /// A Python dictionary with exactly the keys descr, fortran_order and shape.
    pub(super) fn parse(text: &[u8]) -> Result<Header, String> {
        let mut scan = Scan { rest: text };
        let (mut kind, mut fortran, mut shape) = (None, None, None);
        scan.need(b'{')?;
        while !scan.take(b'}') {
            let key = scan.string()?;
            scan.need(b':')?;
            let repeated = match key {
                b"descr" => kind.replace(scan.kind()?).is_some(),
                b"fortran_order" => fortran.replace(scan.boolean()?).is_some(),
                b"shape" => shape.replace(scan.shape()?).is_some(),
                _ => true,
            };
            if repeated {
                return Err(scan.bad("a key that is unknown or given twice"));
            }
            if !scan.take(b',') {
                scan.need(b'}')?;
                break;
            }
        }
        scan.space();
        match (kind, fortran, shape) {
            (Some(kind), Some(fortran), Some(shape)) if scan.rest.is_empty() => Ok(Header {
                kind,
                fortran,
                shape,
            }),
            (Some(_), Some(_), Some(_)) => Err(scan.bad("text after the dictionary")),
            _ => Err(scan.bad("a missing key")),
        }
    }
}

/// What is left of the header.
struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    fn bad(&self, what: &str) -> String {
        format!("the header is damaged ({what}); save the file again")
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.rest.strip_prefix(&[byte]);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn need(&mut self, byte: u8) -> Result<(), String> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.bad(&format!("{:?} is missing", char::from(byte))))
        }
    }

    /// The longest prefix of bytes that fit.
    fn run(&mut self, fits: impl Fn(&u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !fits(byte));
        let (run, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        run
    }

    fn string(&mut self) -> Result<&'a [u8], String> {
        let quote = if self.take(b'"') { b'"' } else { b'\'' };
        if quote == b'\'' {
            self.need(quote)?;
        }
        let text = self.run(|&byte| byte != quote);
        self.need(quote)?;
        Ok(text)
    }

    fn kind(&mut self) -> Result<Kind, String> {
        self.space();
        if self.rest.starts_with(b"[") {
            return Err("the array has named fields; save one field as float64".into());
        }
        match self.string()? {
            b"<f4" => Ok(Kind::LittleF4),
            b"<f8" => Ok(Kind::LittleF8),
            b">f4" => Ok(Kind::BigF4),
            b">f8" => Ok(Kind::BigF8),
            other => Err(format!(
                "the array's type is {:?}; save it as float32 or float64, with .astype('float64')",
                String::from_utf8_lossy(&other[..other.len().min(40)])
            )),
        }
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.space();
        match self.run(u8::is_ascii_alphabetic) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(self.bad("fortran_order is neither True nor False")),
        }
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.need(b'(')?;
        while !self.take(b')') {
            let size = std::str::from_utf8(self.run(u8::is_ascii_digit))
                .ok()
                .and_then(|digits| digits.parse().ok());
            shape.push(size.ok_or_else(|| self.bad("the shape is not a list of sizes"))?);
            if !self.take(b',') {
                self.need(b')')?;
                break;
            }
        }
        Ok(shape)
    }
}
