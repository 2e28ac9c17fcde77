//! Types that are a text wherever they are stored: written by `Display`, read by `FromStr`, so that no other way in
//! passes the check.

/// Stores a type as its text: `Serialize` by its `Display`, `Deserialize` by its `FromStr`.
#[macro_export]
macro_rules! as_text {
    ($Type:ty) => {
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text: String = serde::Deserialize::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
